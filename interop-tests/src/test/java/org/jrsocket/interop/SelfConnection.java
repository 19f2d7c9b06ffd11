/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * Plain {@code java.net}, with java.base alone: {@code SelfConnection ADDRESS} talks to itself. Prints {@code port=}.
 */
final class SelfConnection {

    static final int BYTES = 1000;

    private SelfConnection() {}

    public static void main(String[] args) throws IOException {
        System.out.println("port=" + talk(args[0]));
    }

    /** Sends {@link #BYTES} one way; the server's port. */
    static int talk(String address) throws IOException {
        try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getByName(address));
                Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
                Socket accepted = server.accept()) {
            client.getOutputStream().write(new byte[BYTES]);
            if (accepted.getInputStream().readNBytes(BYTES).length != BYTES) {
                throw new IOException("the connection ended early");
            }
            return server.getLocalPort();
        }
    }
}
