/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * Main class of a JVM that talks to itself over several connections, one after the other, of {@code java.net} and then
 * of NIO with a selector. Arguments: address, connections of each kind.
 */
final class SelfConnections {

    private SelfConnections() {}

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[1]);
        for (int i = 0; i < count; i++) {
            SelfConnection.talk(args[0]);
            Thread.sleep(100); // so that what it had is kept for the next one
        }
        try (ServerSocketChannel server = ServerSocketChannel.open();
                Selector selector = Selector.open()) {
            server.bind(new InetSocketAddress(InetAddress.getByName(args[0]), 0));
            for (int i = 0; i < count; i++) {
                talk(server, selector);
                Thread.sleep(100);
            }
        }
        System.out.println("done");
    }

    private static void talk(ServerSocketChannel server, Selector selector) throws IOException {
        try (SocketChannel client = SocketChannel.open(server.getLocalAddress());
                SocketChannel accepted = server.accept()) {
            client.write(ByteBuffer.allocate(SelfConnection.BYTES));
            accepted.configureBlocking(false);
            SelectionKey key = accepted.register(selector, SelectionKey.OP_READ);
            ByteBuffer read = ByteBuffer.allocate(SelfConnection.BYTES);
            while (read.hasRemaining()) {
                selector.select(channel -> {});
                if (accepted.read(read) < 0) {
                    throw new IOException("the connection ended early");
                }
            }
            key.cancel();
            selector.selectNow();
        }
    }
}
