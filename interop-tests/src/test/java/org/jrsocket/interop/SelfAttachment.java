/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import com.sun.tools.attach.VirtualMachine;

/**
 * A program that attaches an agent to its own JVM, and then talks to itself: arguments are the jar, the agent's
 * arguments, the address, and perhaps a class that it uses before.
 */
public final class SelfAttachment {

    private SelfAttachment() {}

    public static void main(String[] args) throws Exception {
        if (args.length > 3) {
            Class.forName(args[3]);
        }
        VirtualMachine self =
                VirtualMachine.attach(Long.toString(ProcessHandle.current().pid()));
        self.loadAgent(args[0], args[1]);
        self.detach();
        System.out.println("agent=" + where());
        SelfConnection.main(new String[] {args[2]});
    }

    private static String where() {
        try {
            Class.forName("org.jrsocket.agent.Agent", false, null);
            return "boot";
        } catch (ClassNotFoundException e) {
            return "elsewhere";
        }
    }
}
