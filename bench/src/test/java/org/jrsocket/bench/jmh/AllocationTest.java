/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.jmh;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import org.jrsocket.bench.jmh.IdleDeviceBenchmark.Reading;
import org.jrsocket.bench.jmh.IdleDeviceBenchmark.SocketReading;
import org.jrsocket.bench.jmh.IdleDeviceBenchmark.SocketWriting;
import org.jrsocket.bench.jmh.IdleDeviceBenchmark.Writing;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the benchmarks' operations allocate, counted by the JVM for the thread that does them: unlike JMH's profiler it
 * counts nothing else, so it is the same however busy the machine is, interpreted and compiled.
 */
@Tag("once")
class AllocationTest {

    private static final int OPERATIONS = 10_000;
    /** The best round counts: a path that is taken for the first time, as a wait, loads classes. */
    private static final int ROUNDS = 4;
    /**
     * The smallest object takes 16 bytes: one in 16 operations shows. Less is allowed, because a thread that meets the
     * service thread in a stream's lock makes an object to wait with.
     */
    private static final double BYTES_PER_OPERATION = 1;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final IdleDeviceBenchmark idleDevice = new IdleDeviceBenchmark();

    private Object kept;

    private interface Operation {
        void run() throws IOException;
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 4096, 65_536})
    void shouldAllocateNothingPerReadAndWriteOfStreams(int size) throws IOException {
        StreamBenchmark benchmark = new StreamBenchmark();
        benchmark.size = size;
        benchmark.connect();
        try {
            check("arrays of " + size, benchmark::arrays);
            check("direct buffers of " + size, benchmark::directBuffers);
            check("round trip of " + size, benchmark::roundTrip);
        } finally {
            benchmark.close();
        }
    }

    @Test
    void shouldAllocateNothingPerWriteOnADeviceThatDoesNothing() throws IOException {
        Writing end = new Writing();
        end.connect();
        try {
            check("write", () -> idleDevice.streamWrite(end));
        } finally {
            end.close();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 16})
    void shouldAllocateNothingPerReadOfWhatIsReady(int ready) throws IOException {
        Reading end = new Reading();
        end.ready = ready;
        end.connect();
        try {
            check("read, " + ready + " at a time", () -> idleDevice.streamRead(end));
        } finally {
            end.close();
        }
    }

    @Test
    void shouldAllocateNothingPerReadAndWriteOfSockets() throws IOException {
        SocketReading end = new SocketReading();
        end.ready = 1;
        end.connect();
        try {
            check("read", () -> idleDevice.socketRead(end));
            // A JVM takes one factory of sockets, and with it one device.
            SocketWriting writing = new SocketWriting();
            writing.out = end.sockets.client.getOutputStream();
            check("write", () -> idleDevice.socketWrite(writing));
        } finally {
            end.close();
        }
    }

    /** Else the others could not fail: where a JVM does not count, it always says the same. */
    @Test
    void shouldSeeOneObjectInSixteenOperations() {
        int[] calls = new int[1];
        assertThrows(
                AssertionError.class,
                () -> check("an object now and then", () -> kept = calls[0]++ % 16 == 0 ? new Object() : kept));
    }

    private void check(String name, Operation operation) throws IOException {
        long least = Long.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < OPERATIONS; i++) {
                operation.run();
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        double bytes = (double) least / OPERATIONS;
        System.out.printf("%s: %.3f B/op%n", name, bytes);
        assertTrue(bytes < BYTES_PER_OPERATION, () -> name + " allocates " + bytes + " bytes per operation");
    }
}
