/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;

/**
 * Speaks the application protocol of rdma-core's {@code rstream}, as its server or its client, in Java.
 *
 * <p>A test is: 16 bytes from the client and 16 back; then, so many times over, a number of transfers from the client
 * and as many from the server. With verification each side sends a counter's low byte, byte after byte without a break
 * from its first connection to its last. Without sizes given there is one connection for latency (one transfer at a
 * time) and one for bandwidth (all transfers before the answer), each through the same sizes.
 */
final class RstreamPeer {

    private static final int[] SIZES = {1 << 6, 1 << 12, 1 << 16, 1 << 20};
    private static final int SYNC = 16;

    private final Network network;
    private String server;
    private String bind;
    private int port = 7471;
    private boolean custom;
    private int iterations = 1;
    private int count = 1000;
    private int size = 1000;
    private boolean verify;

    private byte[] buffer;
    private byte nextSent;
    private byte nextReceived;
    private long transferred;
    private int tests;
    private Network.Door door;

    /**
     * Options as of {@code rstream}:
     * {@code -s server -b address -p port -B buffer -I iterations -C count -S size -T v}. Other test options of
     * {@code -T} are not for this side: the API decides.
     */
    RstreamPeer(Network network, List<String> options) {
        this.network = network;
        for (int i = 0; i < options.size(); i += 2) {
            option(options.get(i), options.get(i + 1));
        }
        buffer = new byte
                [Math.max(SYNC, custom ? size : Arrays.stream(SIZES).max().orElseThrow())];
    }

    private void option(String name, String value) {
        switch (name) {
            case "-s" -> server = value;
            case "-b" -> bind = value;
            case "-p" -> port = Integer.parseInt(value);
            case "-B" -> network.bufferSize(Integer.parseInt(value));
            case "-I" -> iterations = customNumber(value);
            case "-C" -> count = customNumber(value);
            case "-S" -> size = customNumber(value);
            case "-T" -> verify |= value.equals("v");
            default -> throw new IllegalArgumentException(name);
        }
    }

    private int customNumber(String value) {
        custom = true;
        return Integer.parseInt(value);
    }

    /** Binds the port, if this is the server, so that a client may start; {@link #run} would do it, too. */
    void listen() throws IOException {
        if (server == null && door == null) {
            door = network.listen(new InetSocketAddress(InetAddress.getByName(bind), port));
        }
    }

    /** Runs all tests; returns for people and for tests what was done: {@code tests=2 bytes=12345}. */
    String run() throws IOException {
        listen();
        try {
            if (custom) {
                connection(link -> test(link, iterations, count, size));
            } else {
                connection(link -> {
                    for (int s : SIZES) {
                        test(link, repetitions(s), 1, s);
                    }
                });
                connection(link -> {
                    for (int s : SIZES) {
                        test(link, 1, repetitions(s), s);
                    }
                });
            }
        } finally {
            if (door != null) {
                door.close();
            }
        }
        return "tests=" + tests + " bytes=" + transferred;
    }

    /** As many as rstream makes of that size. */
    private static int repetitions(int size) {
        return size >= 1 << 20 ? 100 : size >= 1 << 16 ? 1000 : size >= 1 << 10 ? 10_000 : 100_000;
    }

    private interface Tests {
        void on(Link link) throws IOException;
    }

    private void connection(Tests tests) throws IOException {
        try (Link link = server != null
                ? network.connect(new InetSocketAddress(InetAddress.getByName(server), port))
                : door.accept()) {
            tests.on(link);
            if (server == null) {
                // An rstream that polls takes "closed" for a failure, even with its last data still to be read: the
                // client goes first.
                int n = link.read(buffer, 0, 1);
                if (n >= 0) {
                    throw new IOException("data after the last test");
                }
            }
        }
    }

    private void test(Link link, int iterations, int count, int size) throws IOException {
        exchange(link, 1, SYNC);
        for (int i = 0; i < iterations; i++) {
            exchange(link, count, size);
        }
        tests++;
    }

    /** The client's transfers, then the server's. */
    private void exchange(Link link, int count, int size) throws IOException {
        for (int turn = 0; turn < 2; turn++) {
            boolean sending = (turn == 0) == (server != null);
            for (int i = 0; i < count; i++) {
                if (sending) {
                    send(link, size);
                } else {
                    receive(link, size);
                }
            }
        }
        transferred += 2L * count * size;
    }

    private void send(Link link, int size) throws IOException {
        if (verify) {
            for (int i = 0; i < size; i++) {
                buffer[i] = nextSent++;
            }
        }
        link.write(buffer, 0, size);
    }

    private void receive(Link link, int size) throws IOException {
        for (int have = 0; have < size; ) {
            int n = link.read(buffer, have, size - have);
            if (n < 0) {
                throw new EOFException(
                        "the peer ended after " + have + " of " + size + " bytes of a transfer in test " + (tests + 1));
            }
            have += n;
        }
        if (verify) {
            for (int i = 0; i < size; i++) {
                if (buffer[i] != nextReceived++) {
                    throw new IOException("wrong byte " + i + " of " + size + " in test " + (tests + 1) + ": "
                            + buffer[i] + " instead of " + (byte) (nextReceived - 1));
                }
            }
        }
    }

    /** {@code RstreamPeer API OPTION...}, with an API that {@link Network#named} knows. */
    public static void main(String[] args) throws IOException {
        try (Network network = Network.named(args[0])) {
            System.out.println(new RstreamPeer(network, List.of(args).subList(1, args.length)).run());
        }
    }
}
