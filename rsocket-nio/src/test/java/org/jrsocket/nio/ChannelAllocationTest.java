/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What calls of channels and selectors allocate, counted by the JVM for the thread that makes them. */
@Tag("once")
class ChannelAllocationTest extends LoopbackChannelTests {

    private static final int OPERATIONS = 5000;
    /** The best round counts: a path that is taken for the first time loads classes. */
    private static final int ROUNDS = 4;
    /** The smallest object takes 16 bytes; one that meets another thread in a lock may need something to wait with. */
    private static final double NOTHING = 1;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private interface Operation {
        void run() throws IOException;
    }

    private double bytesPer(Operation operation) throws IOException {
        double best = Double.MAX_VALUE;
        long self = Thread.currentThread().getId();
        for (int round = 0; round < ROUNDS; round++) {
            long before = threads.getThreadAllocatedBytes(self);
            for (int i = 0; i < OPERATIONS; i++) {
                operation.run();
            }
            best = Math.min(best, (double) (threads.getThreadAllocatedBytes(self) - before) / OPERATIONS);
        }
        return best;
    }

    private void assertAllocatesNothing(Operation operation) throws IOException {
        double bytes = bytesPer(operation);
        assertTrue(bytes < NOTHING, () -> bytes + " bytes for each");
    }

    /** Sends one buffer and receives it; the position of both is 0 afterwards. */
    private static void exchange(SocketChannel from, ByteBuffer out, SocketChannel to, ByteBuffer in)
            throws IOException {
        while (out.hasRemaining()) {
            from.write(out);
        }
        out.rewind();
        in.limit(out.limit());
        while (in.hasRemaining()) {
            assertTrue(to.read(in) >= 0, "the end");
        }
        in.rewind();
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 4096})
    void shouldAllocateNothingForBlockingReadsAndWrites(int size) throws Exception {
        Pair pair = pair();
        ByteBuffer out = ByteBuffer.allocateDirect(size);
        ByteBuffer in = ByteBuffer.allocateDirect(size);
        assertAllocatesNothing(() -> exchange(pair.client(), out, pair.server(), in));
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 4096})
    void shouldAllocateNothingForBuffersInTheHeap(int size) throws Exception {
        Pair pair = pair();
        ByteBuffer out = ByteBuffer.allocate(size);
        ByteBuffer in = ByteBuffer.allocate(size);
        assertAllocatesNothing(() -> exchange(pair.client(), out, pair.server(), in));
    }

    @Test
    void shouldAllocateNothingForGatheringWritesAndScatteringReads() throws Exception {
        Pair pair = pair();
        ByteBuffer[] out = {ByteBuffer.allocateDirect(64), ByteBuffer.allocate(64)};
        ByteBuffer[] in = {ByteBuffer.allocateDirect(100), ByteBuffer.allocate(28)};
        assertAllocatesNothing(() -> {
            assertEquals(128, pair.client().write(out));
            for (long got = 0; got < 128; ) {
                got += pair.server().read(in);
            }
            for (int i = 0; i < 2; i++) {
                out[i].clear();
                in[i].clear();
            }
        });
    }

    @Test
    void shouldAllocateNothingForNonBlockingReadsOfNothing() throws Exception {
        Pair pair = pair();
        pair.server().configureBlocking(false);
        ByteBuffer in = ByteBuffer.allocateDirect(64);
        assertAllocatesNothing(() -> assertEquals(0, pair.server().read(in)));
    }

    /** As a server does that passes each key to a consumer, which needs no iterator. */
    @Test
    void shouldAllocateNothingForSelections() throws Exception {
        Pair pair = pair();
        pair.server().configureBlocking(false);
        ByteBuffer out = ByteBuffer.allocateDirect(64);
        ByteBuffer in = ByteBuffer.allocateDirect(64);
        try (Selector selector = kind.openSelector()) {
            SelectionKey key = pair.server().register(selector, SelectionKey.OP_READ);
            Consumer<SelectionKey> reader = selected -> {
                try {
                    assertTrue(((SocketChannel) selected.channel()).read(in) > 0);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            };
            assertAllocatesNothing(() -> {
                pair.client().write(out);
                out.rewind();
                while (in.hasRemaining()) {
                    selector.select(reader);
                }
                in.rewind();
                assertEquals(0, selector.selectNow(reader));
                key.interestOps(SelectionKey.OP_READ);
            });
        }
    }
}
