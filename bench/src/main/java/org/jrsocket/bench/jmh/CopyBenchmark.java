/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.jmh;

import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.jrsocket.os.NativeMemory;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The copies that {@link StreamBenchmark} cannot do without, and nothing around them: from the application into the
 * memory that is sent from, by the device (loopback verbs: this thread) into the memory that is received in, and from
 * there to the application.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class CopyBenchmark {

    /** As large as a stream's by default, each of them. */
    private static final int RING = 256 * 1024;

    @Param({"64", "4096", "65536"})
    int size;

    private NativeMemory sendMemory;
    private NativeMemory receiveMemory;
    private ByteBuffer sendRing;
    private ByteBuffer receiveRing;
    private byte[] out;
    private byte[] in;
    private ByteBuffer outBuffer;
    private ByteBuffer inBuffer;
    private int at;

    @Setup
    public void allocate() {
        sendMemory = NativeMemory.allocate(RING);
        receiveMemory = NativeMemory.allocate(RING);
        sendRing = sendMemory.buffer();
        receiveRing = receiveMemory.buffer();
        out = new byte[size];
        in = new byte[size];
        outBuffer = ByteBuffer.allocateDirect(size);
        inBuffer = ByteBuffer.allocateDirect(size);
    }

    @TearDown
    public void free() {
        sendMemory.free();
        receiveMemory.free();
    }

    @Benchmark
    public void arrays() {
        sendRing.put(at, out, 0, size);
        receiveRing.put(at, sendRing, at, size);
        receiveRing.get(at, in, 0, size);
        at = at + size & RING - 1;
    }

    @Benchmark
    public void directBuffers() {
        sendRing.put(at, outBuffer, 0, size);
        receiveRing.put(at, sendRing, at, size);
        inBuffer.put(0, receiveRing, at, size);
        at = at + size & RING - 1;
    }

    /** What a device does by itself: memory that is lent to it and by it. */
    @Benchmark
    public void device() {
        receiveRing.put(at, sendRing, at, size);
        at = at + size & RING - 1;
    }
}
