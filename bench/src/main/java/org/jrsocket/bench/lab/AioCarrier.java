/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/**
 * {@code AsynchronousSocketChannel}, on TCP or whatever an agent makes of it, in a group with one thread. Round trips
 * and their echo are made by completion handlers, each of which starts the next operation; everything else waits for
 * futures.
 */
final class AioCarrier implements Carrier {

    private final AsynchronousChannelGroup group;

    AioCarrier() throws IOException {
        group = AsynchronousChannelGroup.withFixedThreadPool(1, task -> {
            Thread thread = new Thread(task, "aio");
            thread.setDaemon(true);
            return thread;
        });
    }

    private static <T> T get(Future<T> future) throws IOException {
        try {
            return future.get();
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private static final class AioWire implements Wire {
        private final AsynchronousSocketChannel channel;

        AioWire(AsynchronousSocketChannel channel) throws IOException {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            this.channel = channel;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            return get(channel.read(ByteBuffer.wrap(target, offset, length)));
        }

        @Override
        public void write(byte[] source, int length) throws IOException {
            ByteBuffer buffer = ByteBuffer.wrap(source, 0, length);
            while (buffer.hasRemaining()) {
                get(channel.write(buffer));
            }
        }

        @Override
        public void run(RoundTrips trips) throws IOException {
            new Pings(channel, trips).run();
        }

        @Override
        public void echo(byte[] buffer) throws IOException {
            new Echoes(channel, buffer).run();
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    /** Handlers that take turns. */
    private abstract static class Turns {
        final AsynchronousSocketChannel channel;
        private final ByteBuffer out;
        private final ByteBuffer in;
        private final CompletableFuture<Void> end = new CompletableFuture<>();

        private final CompletionHandler<Integer, Void> written = new Step() {
            @Override
            void step(int n) throws IOException {
                if (out.hasRemaining()) {
                    write();
                } else {
                    out.clear();
                    sent();
                }
            }
        };

        private final CompletionHandler<Integer, Void> read = new Step() {
            @Override
            void step(int n) throws IOException {
                if (n < 0) {
                    ended();
                } else if (in.hasRemaining()) {
                    read();
                } else {
                    in.clear();
                    received();
                }
            }
        };

        private abstract class Step implements CompletionHandler<Integer, Void> {
            abstract void step(int n) throws IOException;

            @Override
            public void completed(Integer n, Void none) {
                try {
                    step(n);
                } catch (IOException | RuntimeException e) {
                    end.completeExceptionally(e);
                }
            }

            @Override
            public void failed(Throwable e, Void none) {
                end.completeExceptionally(e);
            }
        }

        Turns(AsynchronousSocketChannel channel, byte[] out, byte[] in) {
            this.channel = channel;
            this.out = ByteBuffer.wrap(out);
            this.in = ByteBuffer.wrap(in);
        }

        /** A whole message is written. */
        abstract void sent();

        /** A whole message has come. */
        abstract void received() throws IOException;

        abstract void ended() throws IOException;

        final void write() {
            channel.write(out, null, written);
        }

        final void read() {
            channel.read(in, null, read);
        }

        final void end() {
            end.complete(null);
        }

        abstract void start();

        /** Starts, and waits for the end. */
        final void run() throws IOException {
            start();
            get(end);
        }
    }

    private static final class Pings extends Turns {
        private final RoundTrips trips;

        Pings(AsynchronousSocketChannel channel, RoundTrips trips) {
            super(channel, trips.out, trips.in);
            this.trips = trips;
        }

        @Override
        void start() {
            trips.begin();
            write();
        }

        @Override
        void sent() {
            read();
        }

        @Override
        void received() throws IOException {
            if (trips.end()) {
                start();
            } else {
                end();
            }
        }

        @Override
        void ended() throws IOException {
            throw new EOFException("the server ended the connection");
        }
    }

    private static final class Echoes extends Turns {

        Echoes(AsynchronousSocketChannel channel, byte[] buffer) {
            super(channel, buffer, buffer);
        }

        @Override
        void start() {
            read();
        }

        @Override
        void sent() {
            read();
        }

        @Override
        void received() {
            write();
        }

        @Override
        void ended() {
            end();
        }
    }

    @Override
    public Wire connect(InetSocketAddress to, boolean spinning) throws IOException {
        AsynchronousSocketChannel channel = AsynchronousSocketChannel.open(group);
        get(channel.connect(to));
        return new AioWire(channel);
    }

    @Override
    public Acceptor listen(InetSocketAddress at, boolean spinning) throws IOException {
        AsynchronousServerSocketChannel server = AsynchronousServerSocketChannel.open(group);
        server.bind(at, 128);
        return () -> new AioWire(get(server.accept()));
    }
}
