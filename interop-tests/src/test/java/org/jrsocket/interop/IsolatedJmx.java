/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import java.lang.management.ManagementFactory;
import java.net.URL;
import java.net.URLClassLoader;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** Starts JMX in a thread whose context class loader sees nothing of the class path, as containers have them. */
final class IsolatedJmx {

    private IsolatedJmx() {}

    public static void main(String[] args) throws Exception {
        ObjectName name = new ObjectName("org.jrsocket:type=Transport");
        Thread thread = new Thread(() -> {
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            try {
                System.out.println(
                        "Version=" + (server.isRegistered(name) ? server.getAttribute(name, "Version") : ""));
            } catch (JMException e) {
                throw new IllegalStateException(e);
            }
        });
        thread.setContextClassLoader(new URLClassLoader(new URL[0], ClassLoader.getPlatformClassLoader()));
        thread.start();
        thread.join();
        System.out.println("builder=" + System.getProperty("javax.management.builder.initial"));
    }
}
