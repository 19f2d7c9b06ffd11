/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.aio;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The active process: {@code PingChannels ADDRESS PORT CONNECTIONS}. Has all its connections to {@link EchoChannels} in
 * one group with one thread. Commands on its standard input: {@code connect} opens them all; {@code echo ROUNDS} has
 * all of them at once send random bytes and wait for them to come back, so many times, and compares every byte.
 */
public final class PingChannels {

    /** Bytes of a message. */
    static final int MESSAGE = 1024;

    private static final int CONNECTS_AT_ONCE = 8;
    private static final long PATIENCE_SECONDS = 120;

    private final InetSocketAddress server;
    private final int connections;
    private final AsynchronousChannelGroup group = EchoChannels.group();
    private final List<Ping> pings = new ArrayList<>();

    private PingChannels(String[] args) throws IOException {
        server = new InetSocketAddress(args[0], Integer.parseInt(args[1]));
        connections = Integer.parseInt(args[2]);
    }

    public static void main(String[] args) throws IOException {
        PingChannels ping = new PingChannels(args);
        System.out.println("ready");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            System.out.println(ping.answer(line));
        }
        System.exit(0);
    }

    private String answer(String command) {
        long start = System.nanoTime();
        try {
            if (command.equals("connect")) {
                connect();
            } else {
                echo(Integer.parseInt(command.substring("echo ".length())));
            }
            return String.format(
                    Locale.ROOT,
                    "ok seconds=%.1f verified=%d",
                    (System.nanoTime() - start) / 1e9,
                    pings.stream().mapToLong(ping -> ping.verified).sum());
        } catch (ExecutionException | TimeoutException | InterruptedException | IOException e) {
            e.printStackTrace();
            return "failed: " + e;
        }
    }

    private static void await(List<? extends Future<?>> all)
            throws ExecutionException, TimeoutException, InterruptedException {
        for (Future<?> one : all) {
            Object unused = one.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
    }

    private void connect() throws IOException, ExecutionException, TimeoutException, InterruptedException {
        while (pings.size() < connections) {
            List<Future<Void>> connecting = new ArrayList<>();
            for (int i = 0; i < CONNECTS_AT_ONCE && pings.size() < connections; i++) {
                AsynchronousSocketChannel channel = AsynchronousSocketChannel.open(group);
                connecting.add(channel.connect(server));
                pings.add(new Ping(channel, pings.size()));
            }
            await(connecting);
        }
        for (Ping ping : pings) {
            ping.channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        }
    }

    private void echo(int rounds) throws ExecutionException, TimeoutException, InterruptedException {
        List<CompletableFuture<Void>> echoes = new ArrayList<>();
        for (Ping ping : pings) {
            echoes.add(ping.start(rounds));
        }
        await(echoes);
    }

    /** A connection. */
    private static final class Ping {
        private final AsynchronousSocketChannel channel;
        private final SplittableRandom random;
        private final byte[] data = new byte[MESSAGE];
        private final ByteBuffer out = ByteBuffer.allocateDirect(MESSAGE);
        private final ByteBuffer in = ByteBuffer.allocateDirect(MESSAGE);
        private CompletableFuture<Void> end;
        private int left;
        private volatile long verified;

        Ping(AsynchronousSocketChannel channel, int seed) {
            this.channel = channel;
            this.random = new SplittableRandom(seed);
        }

        CompletableFuture<Void> start(int rounds) {
            end = new CompletableFuture<>();
            left = rounds;
            send();
            return end;
        }

        private void send() {
            random.nextBytes(data);
            out.clear().put(data).flip();
            channel.write(out, null, written);
        }

        private abstract class Step implements CompletionHandler<Integer, Void> {
            @Override
            public void failed(Throwable e, Void none) {
                end.completeExceptionally(e);
            }
        }

        private final CompletionHandler<Integer, Void> written = new Step() {
            @Override
            public void completed(Integer n, Void none) {
                if (out.hasRemaining()) {
                    channel.write(out, null, this);
                } else {
                    channel.read(in.clear(), null, read);
                }
            }
        };

        private final CompletionHandler<Integer, Void> read = new Step() {
            @Override
            public void completed(Integer n, Void none) {
                if (n < 0) {
                    failed(new EOFException("the server ended the connection"), null);
                } else if (in.hasRemaining()) {
                    channel.read(in, null, this);
                } else if (!in.flip().equals(ByteBuffer.wrap(data))) {
                    failed(new IOException("something else came back"), null);
                } else {
                    verified += MESSAGE;
                    if (--left > 0) {
                        send();
                    } else {
                        end.complete(null);
                    }
                }
            }
        };
    }
}
