/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;

/** {@code OneConnection ADDRESS PORT}: connects once, or is refused. */
final class OneConnection {

    private OneConnection() {}

    public static void main(String[] args) throws IOException {
        try (Socket socket = new Socket(args[0], Integer.parseInt(args[1]))) {
            System.out.println(socket);
        } catch (ConnectException e) {
            System.out.println(e);
        }
    }
}
