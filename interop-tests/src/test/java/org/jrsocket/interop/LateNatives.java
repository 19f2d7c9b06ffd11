/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import java.lang.management.ManagementFactory;
import javax.management.ObjectName;

/** Waits for a line, then asks the agent for its version and loads its native library for the first time. */
public final class LateNatives {

    private LateNatives() {}

    public static void main(String[] args) throws Exception {
        System.out.println("ready");
        System.in.read();
        System.out.println("version="
                + ManagementFactory.getPlatformMBeanServer()
                        .getAttribute(new ObjectName("org.jrsocket:type=Transport"), "Version"));
        Class<?> library = Class.forName("org.jrsocket.os.NativeLibrary", true, null); // the agent's
        library.getMethod("load").invoke(library.getField("OS").get(null));
        System.out.println("loaded");
    }
}
