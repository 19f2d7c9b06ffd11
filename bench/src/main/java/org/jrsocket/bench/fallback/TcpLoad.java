/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.fallback;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * {@code TcpLoad MILLISECONDS}: round trips of 64 bytes, a stream of 64 KiB writes, and connections one after the
 * other, each for that long after a warm-up of as long, between two threads of this JVM. Prints {@code rtt_ns=}, the
 * median, {@code bytes_per_s=} and {@code connect_ns=}, the median.
 */
public final class TcpLoad {

    private static final int MESSAGE = 64;
    private static final int CHUNK = 65536;

    private final InetSocketAddress server;
    private final long nanos;

    private TcpLoad(InetSocketAddress server, long nanos) {
        this.server = server;
        this.nanos = nanos;
    }

    public static void main(String[] args) throws IOException {
        ServerSocket listener = new ServerSocket(); // until the JVM ends, which does not wait for its thread
        listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        Thread server = new Thread(() -> serve(listener), "server");
        server.setDaemon(true);
        server.start();
        TcpLoad load = new TcpLoad(
                (InetSocketAddress) listener.getLocalSocketAddress(),
                TimeUnit.MILLISECONDS.toNanos(Long.parseLong(args[0])));
        load.roundTrip();
        System.out.println("rtt_ns=" + load.roundTrip());
        load.stream();
        System.out.println("bytes_per_s=" + load.stream());
        load.connect();
        System.out.println("connect_ns=" + load.connect());
    }

    /**
     * One connection at a time. Its first byte says what it is: E to give each message back, D to read all and say so
     * at the end.
     */
    private static void serve(ServerSocket listener) {
        byte[] buffer = new byte[CHUNK];
        try {
            for (; ; ) {
                try (Socket socket = listener.accept()) {
                    socket.setTcpNoDelay(true);
                    InputStream in = socket.getInputStream();
                    OutputStream out = socket.getOutputStream();
                    if (in.read() == 'E') {
                        for (int n = in.readNBytes(buffer, 0, MESSAGE);
                                n == MESSAGE;
                                n = in.readNBytes(buffer, 0, MESSAGE)) {
                            out.write(buffer, 0, n);
                        }
                    } else {
                        while (in.read(buffer) >= 0) {
                            // All of it.
                        }
                        out.write(1);
                    }
                }
            }
        } catch (IOException e) {
            e.printStackTrace();
            System.exit(1);
        }
    }

    private Socket open(char kind) throws IOException {
        Socket socket = new Socket();
        socket.connect(server);
        socket.setTcpNoDelay(true);
        socket.getOutputStream().write(kind);
        return socket;
    }

    private long roundTrip() throws IOException {
        long[] times = new long[1 << 20];
        int count = 0;
        try (Socket socket = open('E')) {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            OutputStream out = socket.getOutputStream();
            byte[] message = new byte[MESSAGE];
            long now = System.nanoTime();
            for (long end = now + nanos; now < end && count < times.length; ) {
                out.write(message);
                in.readFully(message);
                long then = now;
                now = System.nanoTime();
                times[count++] = now - then;
            }
        }
        return median(times, count);
    }

    private long stream() throws IOException {
        try (Socket socket = open('D')) {
            OutputStream out = socket.getOutputStream();
            byte[] chunk = new byte[CHUNK];
            long bytes = 0;
            long start = System.nanoTime();
            while (System.nanoTime() - start < nanos) {
                out.write(chunk);
                bytes += chunk.length;
            }
            socket.shutdownOutput();
            if (socket.getInputStream().read() != 1) {
                throw new IOException("the reader has not got all of it");
            }
            return (long) (bytes / ((System.nanoTime() - start) / 1e9));
        }
    }

    private long connect() throws IOException {
        long[] times = new long[1 << 14]; // fewer than there are ports
        int count = 0;
        for (long end = System.nanoTime() + nanos; System.nanoTime() < end && count < times.length; ) {
            long start = System.nanoTime();
            try (Socket socket = open('D')) {
                times[count++] = System.nanoTime() - start;
                socket.shutdownOutput();
                if (socket.getInputStream().read() != 1) {
                    throw new IOException("no answer");
                }
            }
        }
        return median(times, count);
    }

    private static long median(long[] values, int count) {
        Arrays.sort(values, 0, count);
        return values[count / 2];
    }
}
