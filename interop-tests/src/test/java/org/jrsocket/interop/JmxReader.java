/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;

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
        List<String> chosen = new ArrayList<>();
        for (Object row : ((TabularData) server.getAttribute(name, "TcpChosen")).values()) {
            CompositeData each = (CompositeData) row;
            if ((long) each.get("value") > 0) {
                chosen.add((String) each.get("key"));
            }
        }
        System.out.println("TcpChosen=" + chosen);
        System.out.println("own=" + OwnBuilder.built());
        System.out.println("builder=" + System.getProperty("javax.management.builder.initial"));
    }
}
