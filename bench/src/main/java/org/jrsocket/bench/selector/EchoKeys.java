/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.selector;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * The passive process: {@code EchoKeys ADDRESS PORT}. Sends whole messages back, all its connections and the channel
 * that accepts them in one selector, on one thread. Ends with its standard input.
 */
public final class EchoKeys {

    /** Bytes of a message. */
    static final int MESSAGE = 64;

    private final Selector selector;
    private final ServerSocketChannel server;

    private EchoKeys(InetSocketAddress address) throws IOException {
        selector = Selector.open();
        server = ServerSocketChannel.open();
        server.bind(address, 1024);
        server.configureBlocking(false);
        server.register(selector, SelectionKey.OP_ACCEPT);
    }

    public static void main(String[] args) throws IOException {
        EchoKeys echo = new EchoKeys(new InetSocketAddress(args[0], Integer.parseInt(args[1])));
        Thread serving = new Thread(echo::serve, "echo");
        serving.setDaemon(true);
        serving.start();
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // whoever started this process closes its input to end it
        }
        System.exit(0);
    }

    private void serve() {
        try {
            for (; ; ) {
                selector.select(this::ready);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void ready(SelectionKey key) {
        try {
            if (key.channel() == server) {
                for (SocketChannel channel = server.accept(); channel != null; channel = server.accept()) {
                    channel.configureBlocking(false);
                    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                    channel.register(selector, SelectionKey.OP_READ, ByteBuffer.allocateDirect(MESSAGE));
                }
            } else {
                echo((SocketChannel) key.channel(), (ByteBuffer) key.attachment());
            }
        } catch (IOException e) {
            key.cancel();
            e.printStackTrace();
        }
    }

    private static void echo(SocketChannel channel, ByteBuffer message) throws IOException {
        if (channel.read(message) < 0) {
            channel.close();
        } else if (!message.hasRemaining()) {
            message.flip();
            if (channel.write(message) < MESSAGE) { // there is one at a time, and room for a thousand
                throw new IOException("a message of " + MESSAGE + " bytes was not written at once");
            }
            message.clear();
        }
    }
}
