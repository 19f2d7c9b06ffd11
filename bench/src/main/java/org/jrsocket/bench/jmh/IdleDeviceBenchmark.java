/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.jmh;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.ConfigurationException;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.net.SocketFactories;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
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
 * What a write and a read of 64 bytes take on a device that does nothing: a post returns at once, a completion is ready
 * whenever somebody polls, grants and credits come in time.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
        value = 2,
        jvmArgsAppend = {
            "--add-opens=java.base/java.net=ALL-UNNAMED",
            "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
            "-Djava.net.preferIPv4Stack=true"
        })
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class IdleDeviceBenchmark {

    private static final int SIZE = 64;

    private static void readFully(InputStream in, byte[] data) throws IOException {
        for (int at = 0; at < SIZE; ) {
            at += in.read(data, at, SIZE - at);
        }
    }

    /** A stream that nobody sends anything. */
    @State(Scope.Thread)
    public static class Writing {
        final byte[] data = new byte[SIZE];
        private Ends ends;
        RdmaStream stream;

        @Setup
        public void connect() throws IOException {
            ends = new Ends(new LoopbackConfig().idle(0, 0));
            stream = ends.client;
        }

        @TearDown
        public void close() {
            ends.close();
        }
    }

    /** A stream for which messages are ready. */
    @State(Scope.Thread)
    public static class Reading {
        /** How many messages one poll finds: with one, each read has to poll. */
        @Param({"1", "16"})
        int ready;

        final byte[] data = new byte[SIZE];
        private Ends ends;
        RdmaStream stream;

        @Setup
        public void connect() throws IOException {
            ends = new Ends(new LoopbackConfig().idle(SIZE, ready));
            stream = ends.client;
        }

        @TearDown
        public void close() {
            ends.close();
        }
    }

    /** Sockets of {@code java.net}, which are ours from here on in this JVM. */
    static final class Sockets {
        final Socket client;
        private final Socket server;

        Sockets(LoopbackConfig device) throws IOException {
            RdmaTransport transport = RdmaTransport.over(new LoopbackProvider(device));
            try {
                Settings settings = Settings.read("policy=rdma,connect.timeout=30s", new Properties(), Map.of());
                SocketFactories.install(new TransportContext(settings, Rules.NONE, TransportHolder.of(transport)));
            } catch (ConfigurationException e) {
                throw new IOException(e);
            }
            InetAddress address = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
            try (ServerSocket listener = new ServerSocket()) {
                listener.bind(new InetSocketAddress(address, 0));
                client = new Socket();
                client.connect(listener.getLocalSocketAddress(), 30_000);
                server = listener.accept();
            }
            if (transport.liveStreams() == 0) {
                throw new IOException("the connection is not carried by RDMA");
            }
        }

        void close() throws IOException {
            for (Socket socket : new Socket[] {client, server}) {
                socket.setSoLinger(true, 0);
                socket.close();
            }
        }
    }

    /** A socket that nobody sends anything. */
    @State(Scope.Thread)
    public static class SocketWriting {
        final byte[] data = new byte[SIZE];
        private Sockets sockets;
        OutputStream out;

        @Setup
        public void connect() throws IOException {
            sockets = new Sockets(new LoopbackConfig().idle(0, 0));
            out = sockets.client.getOutputStream();
        }

        @TearDown
        public void close() throws IOException {
            sockets.close();
        }
    }

    /** A socket for which messages are ready. */
    @State(Scope.Thread)
    public static class SocketReading {
        /** As in {@link Reading}. */
        @Param({"1", "16"})
        int ready;

        final byte[] data = new byte[SIZE];
        Sockets sockets;
        InputStream in;

        @Setup
        public void connect() throws IOException {
            sockets = new Sockets(new LoopbackConfig().idle(SIZE, ready));
            in = sockets.client.getInputStream();
        }

        @TearDown
        public void close() throws IOException {
            sockets.close();
        }
    }

    @Benchmark
    public void streamWrite(Writing end) throws IOException {
        end.stream.write(end.data, 0, SIZE, Ends.PATIENCE);
    }

    @Benchmark
    public void streamRead(Reading end) throws IOException {
        for (int at = 0; at < SIZE; ) {
            at += end.stream.read(end.data, at, SIZE - at, Ends.PATIENCE);
        }
    }

    @Benchmark
    public void socketWrite(SocketWriting end) throws IOException {
        end.out.write(end.data, 0, SIZE);
    }

    @Benchmark
    public void socketRead(SocketReading end) throws IOException {
        readFully(end.in, end.data);
    }
}
