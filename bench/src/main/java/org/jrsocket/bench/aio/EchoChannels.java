/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.aio;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;

/**
 * The passive process: {@code EchoChannels ADDRESS PORT}. Sends back whatever comes, all its connections and the
 * channel that accepts them in one group with one thread. Ends with its standard input.
 */
public final class EchoChannels {

    private EchoChannels() {}

    /** A group with a single daemon thread. */
    static AsynchronousChannelGroup group() throws IOException {
        return AsynchronousChannelGroup.withFixedThreadPool(1, task -> {
            Thread thread = new Thread(task, "aio");
            thread.setDaemon(true);
            return thread;
        });
    }

    public static void main(String[] args) throws IOException {
        AsynchronousServerSocketChannel server = AsynchronousServerSocketChannel.open(group());
        server.bind(new InetSocketAddress(args[0], Integer.parseInt(args[1])), 1024);
        server.accept(null, new CompletionHandler<AsynchronousSocketChannel, Void>() {
            @Override
            public void completed(AsynchronousSocketChannel channel, Void none) {
                server.accept(null, this);
                new Echo(channel).start();
            }

            @Override
            public void failed(Throwable e, Void none) {
                e.printStackTrace();
                System.exit(1);
            }
        });
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // whoever started this process closes its input to end it
        }
        System.exit(0);
    }

    /** Of one connection, which it reads and writes in turn. */
    private static final class Echo implements CompletionHandler<Integer, Void> {
        private final AsynchronousSocketChannel channel;
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(PingChannels.MESSAGE);
        private boolean writing;

        Echo(AsynchronousSocketChannel channel) {
            this.channel = channel;
        }

        void start() {
            try {
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                channel.read(buffer, null, this);
            } catch (IOException e) {
                failed(e, null);
            }
        }

        @Override
        public void completed(Integer n, Void none) {
            if (n < 0) {
                close();
            } else if (!writing) {
                writing = true;
                channel.write(buffer.flip(), null, this);
            } else if (buffer.hasRemaining()) {
                channel.write(buffer, null, this);
            } else {
                writing = false;
                channel.read(buffer.clear(), null, this);
            }
        }

        @Override
        public void failed(Throwable e, Void none) {
            e.printStackTrace();
            close();
        }

        @SuppressWarnings("CatchAndPrintStackTrace") // whoever started this program reads it
        private void close() {
            try {
                channel.close();
            } catch (IOException e) {
                e.printStackTrace();
            }
        }
    }
}
