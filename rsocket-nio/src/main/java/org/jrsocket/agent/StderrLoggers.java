/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.util.Locale;
import org.jrsocket.connect.LogLevel;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/**
 * What makes the loggers of the drop-in jar. Its build puts this class in the place of slf4j's {@code LoggerFactory},
 * which would search the class path for an implementation, at each start of a JVM, and would heed what an application
 * has set for its own slf4j. As a library among an application's own slf4j, this project's log is the application's.
 */
public final class StderrLoggers {

    /** Of the agent's settings; of this property where there is no agent. */
    private static volatile Level level = named(System.getProperty("org.jrsocket.log"));

    private StderrLoggers() {}

    // As of slf4j's class.

    public static Logger getLogger(Class<?> type) {
        return getLogger(type.getName());
    }

    public static Logger getLogger(String name) {
        return new StderrLogger(name);
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
}
