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
 * The factory of the drop-in jar's loggers. The jar's build puts this class in the place of slf4j's
 * {@code LoggerFactory}, which would search the class path for an implementation at each start of a JVM, and would heed
 * what an application has set for its own slf4j. As a library beside an application's own slf4j, this project uses the
 * application's log.
 */
public final class StderrLoggers {

    /** The level of the agent's settings, or of this property if there is no agent. */
    private static volatile Level level = named(System.getProperty("org.jrsocket.log"));

    private StderrLoggers() {}

    // As in slf4j's class.

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
