/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jrsocket.netty.Rdma;
import org.jrsocket.netty.RdmaIoHandler;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class EchoTest {

    /** The example itself, in a JVM of its own; where it should end, it does. */
    private static int run(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Echo.class.getName()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            return process.waitFor();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    @Timeout(60)
    void shouldEndWhereItCannotWork() throws Exception {
        String port;
        try (ServerSocket taken = new ServerSocket(0)) {
            port = String.valueOf(taken.getLocalPort());
            assertEquals(1, run("server", port), "a port that is taken");
        }
        assertEquals(1, run("client", "127.0.0.1", port, "1"), "nobody listens");
        assertEquals(2, run("client", "127.0.0.1", "7000", "0"), "nothing to send");
        assertEquals(2, run("serve"), "no such command");
    }

    @Test
    @Timeout(60)
    void shouldSendBackWhatItReads() throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, RdmaIoHandler.newFactory());
        try {
            Channel server = Echo.listen(group, 0);
            int port = ((InetSocketAddress) server.localAddress()).getPort();
            String result = Echo.send(group, "127.0.0.1", port, 8);
            server.close().sync();
            String expected = "8388608 of 8388608 bytes came back, unchanged over ";
            assertTrue(
                    result.equals(expected + "TCP") || Rdma.isAvailable() && result.equals(expected + "RDMA"), result);
        } finally {
            group.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
        }
    }
}
