/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.selector;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * The active process: {@code PingKeys ADDRESS PORT CONNECTIONS ACTIVE}. Has all its connections to {@link EchoKeys} in
 * one selector, in which one thread waits whatever it does otherwise. Commands on its standard input: {@code connect}
 * opens them all; {@code rtt MILLISECONDS} has the active ones, spread evenly over all, send a message each, and the
 * next when that has come back, and tells how many came back to each of them.
 */
public final class PingKeys {

    private static final int CONNECTS_AT_ONCE = 8;
    private static final long PATIENCE_MILLIS = 30_000;

    private final InetSocketAddress server;
    private final int connections;
    private final int active;
    private final Selector selector = Selector.open();
    private final List<Ping> pings = new ArrayList<>();
    private final Queue<String> commands = new ConcurrentLinkedQueue<>();
    private final Histogram nanos = new Histogram(TimeUnit.MINUTES.toNanos(5), 3);
    private long end;
    private int outstanding;

    /** A connection. */
    private static final class Ping {
        private final SocketChannel channel;
        private final ByteBuffer out = ByteBuffer.allocateDirect(EchoKeys.MESSAGE);
        private final ByteBuffer in = ByteBuffer.allocateDirect(EchoKeys.MESSAGE);
        private long sent;
        private int echoes;

        Ping(SocketChannel channel) {
            this.channel = channel;
        }
    }

    private PingKeys(String[] args) throws IOException {
        server = new InetSocketAddress(args[0], Integer.parseInt(args[1]));
        connections = Integer.parseInt(args[2]);
        active = Integer.parseInt(args[3]);
    }

    public static void main(String[] args) throws IOException {
        PingKeys ping = new PingKeys(args);
        Thread thread = new Thread(ping::run, "ping");
        thread.setDaemon(true);
        thread.start();
        System.out.println("ready");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            ping.commands.add(line);
            ping.selector.wakeup();
        }
        System.exit(0);
    }

    private void run() {
        for (; ; ) {
            try {
                selector.select(this::pong);
                for (String command = commands.poll(); command != null; command = commands.poll()) {
                    System.out.println(
                            command.equals("connect")
                                    ? connect()
                                    : measure(Long.parseLong(command.substring("rtt ".length()))));
                }
            } catch (IOException | UncheckedIOException e) {
                e.printStackTrace();
                System.out.println("failed: " + e);
                return;
            }
        }
    }

    private String connect() throws IOException {
        long start = System.nanoTime();
        ExecutorService threads = Executors.newFixedThreadPool(CONNECTS_AT_ONCE);
        try {
            List<Future<SocketChannel>> opening = new ArrayList<>();
            for (int i = 0; i < connections; i++) {
                opening.add(threads.submit(() -> SocketChannel.open(server)));
            }
            for (Future<SocketChannel> one : opening) {
                Ping ping = new Ping(one.get());
                ping.channel.configureBlocking(false);
                ping.channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                ping.channel.register(selector, SelectionKey.OP_READ, ping);
                pings.add(ping);
            }
        } catch (ExecutionException | InterruptedException e) {
            throw new IOException(e);
        } finally {
            threads.shutdownNow();
        }
        return String.format(Locale.ROOT, "ok seconds=%.1f", (System.nanoTime() - start) / 1e9);
    }

    private String measure(long millis) throws IOException {
        nanos.reset();
        end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        List<Ping> loops = new ArrayList<>();
        for (int i = 0; i < active; i++) {
            loops.add(pings.get((int) ((long) i * connections / active)));
        }
        for (Ping ping : loops) {
            outstanding++;
            ping.echoes = 0;
            send(ping);
        }
        while (outstanding > 0) {
            if (selector.select(this::pong, PATIENCE_MILLIS) == 0 && commands.isEmpty()) {
                throw new IOException(outstanding + " messages did not come back within " + PATIENCE_MILLIS + " ms");
            }
        }
        int[] echoes = loops.stream().mapToInt(ping -> ping.echoes).sorted().toArray();
        return String.format(
                Locale.ROOT,
                "ok p50=%.1f p99=%.1f count=%d slowest=%d median=%d fastest=%d",
                nanos.getValueAtPercentile(50) / 1e3,
                nanos.getValueAtPercentile(99) / 1e3,
                nanos.getTotalCount(),
                echoes[0],
                echoes[active / 2],
                echoes[active - 1]);
    }

    private static void send(Ping ping) throws IOException {
        ping.out.clear();
        ping.out.putLong(0, ping.out.getLong(0) + 1);
        ping.sent = System.nanoTime();
        if (ping.channel.write(ping.out) < EchoKeys.MESSAGE) {
            throw new IOException("a message of " + EchoKeys.MESSAGE + " bytes was not written at once");
        }
    }

    private void pong(SelectionKey key) {
        Ping ping = (Ping) key.attachment();
        try {
            if (ping.channel.read(ping.in) < 0) {
                throw new IOException("a connection ended");
            }
            if (ping.in.hasRemaining()) {
                return;
            }
            long now = System.nanoTime();
            if (!ping.in.flip().equals(ping.out.flip())) {
                throw new IOException("something else came back");
            }
            ping.in.clear();
            nanos.recordValue(now - ping.sent);
            ping.echoes++;
            if (now < end) {
                send(ping);
            } else {
                outstanding--;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
