/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.hosts;

import java.io.IOException;
import java.net.Socket;

/**
 * {@code LosingClient ADDRESS PORT}: connects, has a byte come back, and prints {@code connected}. After a line of its
 * input it sends another one and waits for it until that fails, closes, prints {@code failed=} and why, and ends.
 */
final class LosingClient {

    private LosingClient() {}

    public static void main(String[] args) throws IOException {
        try (Socket socket = new Socket(args[0], Integer.parseInt(args[1]))) {
            socket.getOutputStream().write(1);
            System.out.println(socket.getInputStream().read() == 1 ? "connected" : "altered");
            while (System.in.read() != '\n') {
                // the rest of the line
            }
            socket.getOutputStream().write(2);
            System.out.println("answered=" + socket.getInputStream().read());
        } catch (IOException e) {
            Throwable why = e.getSuppressed().length > 0 ? e.getSuppressed()[0] : e;
            System.out.println("failed=" + e + " <- " + why.getMessage());
        }
    }
}
