/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.hosts;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Map;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.MXBean;
import javax.management.ObjectName;

/**
 * {@code TimedClient ADDRESS}: the first line of its input is a port, each further one a number of connections to make,
 * one after the other. Answers {@code round=N median=MICROSECONDS}, of the call of connect alone. When its input ends
 * it prints {@code chosen.REASON=COUNT} for what the agent left to TCP, if there is an agent.
 */
final class TimedClient {

    private static final int BYTES = 1000;

    private TimedClient() {}

    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        InetSocketAddress server = new InetSocketAddress(args[0], Integer.parseInt(lines.readLine()));
        int round = 0;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println("round=" + ++round + " median=" + median(server, Integer.parseInt(line)));
        }
        MBeanServer beans = ManagementFactory.getPlatformMBeanServer(); // not before: starting JMX takes time
        ObjectName name = new ObjectName("org.jrsocket:type=Transport");
        if (beans.isRegistered(name)) {
            JMX.newMXBeanProxy(beans, name, Counts.class).getTcpChosen().entrySet().stream()
                    .filter(each -> each.getValue() > 0)
                    .forEach(each -> System.out.println("chosen." + each.getKey() + '=' + each.getValue()));
        }
    }

    private static long median(InetSocketAddress server, int count) throws IOException {
        long[] micros = new long[count];
        byte[] bytes = new byte[BYTES];
        for (int i = 0; i < count; i++) {
            micros[i] = Client.connection(server, bytes);
        }
        Arrays.sort(micros);
        return micros[count / 2];
    }

    /** What of the agent's bean is asked for; the agent's own interface is not on this class path. */
    @MXBean
    public interface Counts {
        Map<String, Long> getTcpChosen();
    }
}
