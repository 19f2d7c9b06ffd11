/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.faults;

/**
 * Something that goes wrong.
 *
 * @param name for the command line
 * @param title for people
 * @param code the kind of promise, as the legend in docs/reliability.md has it
 * @param promise what happens then, and in which time
 * @param play makes it go wrong and looks; returns what happened. Throws an AssertionError if it is not what is
 * promised
 */
record Scenario(String name, String title, String code, String promise, Play play) {

    /** One run. */
    interface Play {
        String run(TwoHosts hosts) throws Exception;
    }
}
