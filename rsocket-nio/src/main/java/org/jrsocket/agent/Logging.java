/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import org.jrsocket.connect.LogLevel;
import org.slf4j.LoggerFactory;

/**
 * Sets up the log of the drop-in jar, which carries slf4j and its simple implementation under other names. As a library
 * among an application's own slf4j, this project's log is the application's to set up.
 */
final class Logging {

    private Logging() {}

    /** Before the first logger is made. */
    static void configure(LogLevel level) {
        // From the class, because it is renamed whatever the build does to texts.
        String slf4j = LoggerFactory.class.getPackageName();
        if (slf4j.startsWith("org.jrsocket.")) {
            set(slf4j, "defaultLogLevel", level.name());
            set(slf4j, "showThreadName", "false");
            set(slf4j, "showDateTime", "true");
            set(slf4j, "dateTimeFormat", "HH:mm:ss.SSS");
        }
    }

    private static void set(String slf4j, String name, String value) {
        String property = slf4j + ".simpleLogger." + name;
        if (System.getProperty(property) == null) {
            System.setProperty(property, value);
        }
    }
}
