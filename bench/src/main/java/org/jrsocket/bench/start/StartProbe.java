/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.start;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * {@code StartProbe idle|socket}: a program that does next to nothing, or makes one connection to itself, and prints
 * {@code VmHWM=KILOBYTES}, the most memory that was resident, and {@code CpuTicks=N}, hundredths of a second of user
 * and system time.
 */
final class StartProbe {

    private StartProbe() {}

    public static void main(String[] args) throws IOException {
        if (args[0].equals("socket")) {
            try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                    Socket client = new Socket()) {
                client.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getLocalPort()));
                try (Socket accepted = server.accept()) {
                    client.getOutputStream().write(7);
                    if (accepted.getInputStream().read() != 7) {
                        throw new IOException("other bytes came");
                    }
                }
            }
        }
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) {
                System.out.println(line.replaceAll("[:\\s]+", "=").replace("=kB", ""));
            }
        }
        String stat = Files.readString(Path.of("/proc/self/stat")); // proc(5); its second field may have spaces
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        System.out.println("CpuTicks=" + (Long.parseLong(fields[11]) + Long.parseLong(fields[12])));
    }
}
