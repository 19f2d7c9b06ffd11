/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.hosts;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * {@code Server ADDRESS PORT}: gives each connection its bytes back, until it is killed. Prints {@code listening=PORT}.
 */
final class Server {

    private Server() {}

    public static void main(String[] args) throws IOException {
        try (ServerSocket server = new ServerSocket()) {
            server.setReuseAddress(true);
            server.bind(new InetSocketAddress(args[0], Integer.parseInt(args[1])), 1000);
            System.out.println("listening=" + server.getLocalPort());
            for (; ; ) {
                Socket socket = server.accept();
                new Thread(() -> echo(socket), "echo").start();
            }
        }
    }

    private static void echo(Socket socket) {
        byte[] buffer = new byte[65536];
        try (socket) {
            InputStream in = socket.getInputStream();
            OutputStream out = socket.getOutputStream();
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                out.write(buffer, 0, n);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
