/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.io.PrintWriter;
import java.io.Serial;
import java.io.StringWriter;
import java.util.Locale;
import org.jrsocket.connect.LogLevel;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;

/** Writes a line for each call to stderr, with the time of day in UTC. A date format would cost 20 ms at the start. */
final class StderrLogger extends LegacyAbstractLogger {

    @Serial
    private static final long serialVersionUID = 1;

    /** The level of the agent's settings, or of this property if there is no agent. */
    private static volatile Level level = named(System.getProperty("org.jrsocket.log"));

    StderrLogger(String name) {
        this.name = name;
    }

    static Level level() {
        return level;
    }

    static void level(LogLevel least) {
        level = Level.valueOf(least.name());
    }

    private static Level named(String name) {
        for (Level each : Level.values()) {
            if (name != null && each.name().equals(name.toUpperCase(Locale.ROOT))) {
                return each;
            }
        }
        return Level.WARN;
    }

    @Override
    public boolean isTraceEnabled() {
        return isEnabled(Level.TRACE);
    }

    @Override
    public boolean isDebugEnabled() {
        return isEnabled(Level.DEBUG);
    }

    @Override
    public boolean isInfoEnabled() {
        return isEnabled(Level.INFO);
    }

    @Override
    public boolean isWarnEnabled() {
        return isEnabled(Level.WARN);
    }

    @Override
    public boolean isErrorEnabled() {
        return isEnabled(Level.ERROR);
    }

    private static boolean isEnabled(Level level) {
        return level.toInt() >= level().toInt();
    }

    @Override
    protected String getFullyQualifiedCallerName() {
        return null; // callers are not reported
    }

    @Override
    protected void handleNormalizedLoggingCall(
            Level level, Marker marker, String pattern, Object[] arguments, Throwable thrown) {
        String line =
                timeOfDay() + ' ' + level + ' ' + name + " - " + MessageFormatter.basicArrayFormat(pattern, arguments);
        System.err.println(thrown == null ? line : line + System.lineSeparator() + trace(thrown));
    }

    /**
     * Returns the time of day in UTC: a time zone is read from a file, for which a process may lack a descriptor when
     * there is most to log.
     */
    private static String timeOfDay() {
        int millis = (int) (System.currentTimeMillis() % 86_400_000);
        return digits(millis / 3_600_000, 2)
                + ':'
                + digits(millis / 60_000 % 60, 2)
                + ':'
                + digits(millis / 1000 % 60, 2)
                + '.'
                + digits(millis % 1000, 3)
                + 'Z';
    }

    private static String digits(int number, int count) {
        return Integer.toString(1000 + number).substring(4 - count);
    }

    private static String trace(Throwable thrown) {
        StringWriter text = new StringWriter();
        thrown.printStackTrace(new PrintWriter(text));
        return text.toString().stripTrailing();
    }
}
