/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.hosts;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.Socket;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * {@code LeavingClient}: for each line of its input, {@code ADDRESS PORT}, connects, has a thousand bytes come back and
 * prints {@code call=N TRANSPORT from=ADDRESS}: what carried it, and the address of this host that it had.
 */
final class LeavingClient {

    private LeavingClient() {}

    public static void main(String[] args) throws Exception {
        MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName("org.jrsocket:type=Transport");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        long rdma = 0;
        int call = 0;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            try (Socket socket = new Socket(words[0], Integer.parseInt(words[1]))) {
                socket.getOutputStream().write(new byte[1000]);
                new DataInputStream(socket.getInputStream()).readFully(new byte[1000]);
                long now = (long) beans.getAttribute(name, "RdmaConnected");
                System.out.println("call=" + ++call + (now > rdma ? " RDMA" : " TCP") + " from="
                        + socket.getLocalAddress().getHostAddress());
                rdma = now;
            }
        }
    }
}
