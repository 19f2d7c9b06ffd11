/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import java.lang.management.ManagementFactory;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;

/** {@code JmxReader ADDRESS}: talks to itself and then prints what the platform MBean server has to say of that. */
final class JmxReader {

    private JmxReader() {}

    public static void main(String[] args) throws Exception {
        ObjectName name = new ObjectName("org.jrsocket:type=Transport");
        System.out.println("port=" + SelfConnection.talk(args[0]));
        System.out.println("foreign=" + MBeanServerFactory.newMBeanServer().isRegistered(name));
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        for (String attribute : new String[] {"Version", "RdmaConnected", "RdmaAccepted", "BytesWritten", "Verbs"}) {
            System.out.println(attribute + "=" + server.getAttribute(name, attribute));
        }
        System.out.println("TcpChosen="
                + ((javax.management.openmbean.TabularData) server.getAttribute(name, "TcpChosen")).keySet());
        System.out.println("own=" + OwnBuilder.built());
        System.out.println("builder=" + System.getProperty("javax.management.builder.initial"));
    }
}
