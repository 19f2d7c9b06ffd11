/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Many channels in one group, all of them at work. */
abstract class AioManySuite extends AioSuite {

    private static final int CHANNELS = 250;
    private static final int ROUNDS = 3;
    private static final int MESSAGE = 256;

    /** Both ends of all of them. */
    @Test
    void shouldCarryEveryByteOfManyChannels() throws Exception {
        AsynchronousChannelGroup group = fixed(2);
        List<Loop> loops = new ArrayList<>();
        CompletableFuture<Void> wrong = new CompletableFuture<>();
        try (AsynchronousServerSocketChannel listener = openServer(group).bind(anyPort())) {
            for (int i = 0; i < CHANNELS; i++) {
                AsynchronousSocketChannel client = open(group);
                Future<Void> connecting = client.connect(listener.getLocalAddress());
                AsynchronousSocketChannel server = closing(get(listener.accept()));
                get(connecting);
                kind().check(client);
                new Echo(server, wrong).read();
                loops.add(new Loop(client, i, wrong));
            }
        }
        loops.forEach(Loop::start);
        for (Loop loop : loops) {
            get(CompletableFuture.anyOf(loop.end, wrong));
            assertEquals((long) ROUNDS * MESSAGE, loop.verified);
        }
    }

    /** Sends back whatever comes. */
    private static final class Echo {
        private final AsynchronousSocketChannel channel;
        private final CompletableFuture<Void> wrong;
        private final ByteBuffer buffer = ByteBuffer.allocate(MESSAGE);

        Echo(AsynchronousSocketChannel channel, CompletableFuture<Void> wrong) {
            this.channel = channel;
            this.wrong = wrong;
        }

        void read() {
            CompletableFuture<Void> closed = new CompletableFuture<>(); // how the last one ends
            channel.read(buffer.clear(), null, then(closed, (Integer n) -> {
                if (n > 0) {
                    buffer.flip();
                    write();
                }
            }));
        }

        private void write() {
            channel.write(buffer, null, then(wrong, (Integer n) -> {
                if (buffer.hasRemaining()) {
                    write();
                } else {
                    read();
                }
            }));
        }
    }

    /** A message that goes back and forth, another one each time. */
    private static final class Loop {
        final CompletableFuture<Void> end = new CompletableFuture<>();
        long verified;
        private final AsynchronousSocketChannel channel;
        private final long seed;
        private final ByteBuffer out = ByteBuffer.allocate(MESSAGE);
        private final ByteBuffer in = ByteBuffer.allocate(MESSAGE);
        private final CompletableFuture<Void> wrong;

        Loop(AsynchronousSocketChannel channel, int number, CompletableFuture<Void> wrong) {
            this.channel = channel;
            this.seed = 7919L * number;
            this.wrong = wrong;
        }

        void start() {
            out.clear();
            for (int i = 0; i < MESSAGE; i++) {
                out.put(i, pattern(seed + verified + i));
            }
            write();
        }

        private void write() {
            channel.write(out, null, then(wrong, (Integer n) -> {
                if (out.hasRemaining()) {
                    write();
                } else {
                    in.clear();
                    read();
                }
            }));
        }

        private void read() {
            channel.read(in, null, then(wrong, (Integer n) -> {
                if (n < 0) {
                    throw new IOException("the end of the stream after " + verified + " bytes");
                }
                if (in.hasRemaining()) {
                    read();
                } else {
                    assertEquals(out.flip(), in.flip());
                    verified += MESSAGE;
                    next();
                }
            }));
        }

        private void next() {
            if (verified < (long) ROUNDS * MESSAGE) {
                start();
            } else {
                end.complete(null);
            }
        }
    }
}
