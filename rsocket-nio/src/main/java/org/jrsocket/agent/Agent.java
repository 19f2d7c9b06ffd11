/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.lang.instrument.Instrumentation;

/**
 * {@code -javaagent:rsocket.jar}: what the JVM calls. Before it does, it loads whatever this class has in the
 * signatures of its methods, wherever it found this class, which need not be where the agent's classes belong ({@link
 * BootPath}). So there is nothing of ours here; all else is in {@link Installation}.
 */
public final class Agent {

    private Agent() {}

    /** Called by the JVM before {@code main}. */
    public static void premain(String arguments, Instrumentation instrumentation) {
        if (!BootPath.handOn("premain", arguments, instrumentation)) {
            Installation.begin(arguments, instrumentation);
        }
    }

    /** Called by the JVM when the agent is attached. */
    public static void agentmain(String arguments, Instrumentation instrumentation) {
        if (!BootPath.handOn("agentmain", arguments, instrumentation)) {
            Installation.attach(arguments, instrumentation);
        }
    }

    /** One line on stderr. */
    static void say(String line) {
        System.err.println("jrsocket: " + line.replaceAll("\\s*\\R\\s*", " "));
    }
}
