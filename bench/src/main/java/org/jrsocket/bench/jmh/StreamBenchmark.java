/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.jmh;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.verbs.loopback.LoopbackConfig;
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

/** One operation: a write at one end and the reads that take it at the other, in one thread. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class StreamBenchmark {

    private static final long PATIENCE = Ends.PATIENCE;

    @Param({"64", "4096", "65536"})
    int size;

    private Ends ends;
    private RdmaStream client;
    private RdmaStream server;
    private byte[] out;
    private byte[] in;
    private ByteBuffer outBuffer;
    private ByteBuffer inBuffer;

    @Setup
    public void connect() throws IOException {
        ends = new Ends(new LoopbackConfig());
        client = ends.client;
        server = ends.server;
        out = new byte[size];
        in = new byte[size];
        outBuffer = ByteBuffer.allocateDirect(size);
        inBuffer = ByteBuffer.allocateDirect(size);
    }

    @TearDown
    public void close() {
        ends.close();
    }

    /** The blocking calls, as {@code java.net} uses them. */
    @Benchmark
    public void arrays() throws IOException {
        client.write(out, 0, size, PATIENCE);
        for (int at = 0; at < size; ) {
            at += server.read(in, at, size - at, PATIENCE);
        }
    }

    /** The calls that do not block, as channels use them. */
    @Benchmark
    public void directBuffers() throws IOException {
        outBuffer.clear();
        inBuffer.clear();
        while (inBuffer.hasRemaining()) {
            if (outBuffer.hasRemaining()) {
                client.write(outBuffer);
            }
            server.read(inBuffer);
        }
    }

    /** As {@link #arrays}, and back. */
    @Benchmark
    public void roundTrip() throws IOException {
        arrays();
        server.write(in, 0, size, PATIENCE);
        for (int at = 0; at < size; ) {
            at += client.read(in, at, size - at, PATIENCE);
        }
    }
}
