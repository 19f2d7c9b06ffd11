/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.lang.instrument.Instrumentation;

/**
 * The entry point of {@code -javaagent:rsocket.jar}. Before the JVM calls it, it loads all types in the signatures of
 * this class's methods, with the class loader in which it found this class. That need not be the one to which the
 * agent's classes belong ({@link BootPath}). So no signature here has a type of ours; everything else is in
 * {@link Installation}.
 */
public final class Agent {

    private Agent() {}

    /** Called by the JVM before {@code main}. */
    public static void premain(String arguments, Instrumentation instrumentation) {
        if (!BootPath.delegate(Agent.class, "premain", arguments, instrumentation)) {
            Installation.begin(arguments, instrumentation);
        }
    }

    /** Called by the JVM when the agent is attached. */
    public static void agentmain(String arguments, Instrumentation instrumentation) {
        if (!BootPath.delegate(Agent.class, "agentmain", arguments, instrumentation)) {
            Installation.attach(arguments, instrumentation);
        }
    }
}
