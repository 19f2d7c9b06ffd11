/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import org.jrsocket.connect.LogLevel;

/** What the agent tells the operator: single lines on stderr, whatever becomes of logs. */
final class Notices {

    private Notices() {}

    static void say(String line) {
        System.err.println("jrsocket: " + line.replaceAll("\\s*\\R\\s*", " "));
    }

    /** Does the same, unless the level leaves out warnings. */
    static void warn(LogLevel level, String line) {
        if (level.compareTo(LogLevel.WARN) >= 0) {
            say(line);
        }
    }
}
