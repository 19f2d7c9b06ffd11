/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.scale;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.stream.PendingConnect;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.stream.StreamConfig;

/**
 * {@code ManyStreams ADDRESS PORT CONNECTIONS ROUNDS}: opens that many connections to an {@link EchoMany} in a process
 * of its own, keeps them all open, and in each round writes a message to every one of them before it reads any answer.
 * Prints what both processes use. Ends with 1 on any failure: a connect, a wrong byte, a connection that ends, memory
 * or descriptors that stay behind.
 */
public final class ManyStreams {

    private static final int MESSAGE = 1024;
    private static final int CONNECTS_AT_ONCE = 32;
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(300);

    private final RdmaTransport transport = TransportHolder.rdmaCore().transport();
    private final InetSocketAddress server;
    private final List<RdmaStream> streams = new ArrayList<>();
    private final byte[] message = new byte[MESSAGE];
    private final byte[] answer = new byte[MESSAGE];

    private ManyStreams(InetSocketAddress server) throws IOException {
        this.server = server;
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        int connections = Integer.parseInt(args[2]);
        int rounds = Integer.parseInt(args[3]);
        Process echo = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-Xmx" + (Runtime.getRuntime().maxMemory() >> 20) + "m",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        EchoMany.class.getName(),
                        args[0],
                        args[1])
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        int status = 1;
        try (BufferedReader said = new BufferedReader(new InputStreamReader(echo.getInputStream(), UTF_8))) {
            if (!"ready".equals(said.readLine())) {
                throw new IOException("the server did not start");
            }
            new ManyStreams(new InetSocketAddress(args[0], Integer.parseInt(args[1])))
                    .run(connections, rounds, echo, said);
            status = 0;
        } catch (IOException | RuntimeException e) {
            e.printStackTrace();
            System.out.println("FAILED: " + e);
        } finally {
            echo.destroy();
        }
        System.exit(status);
    }

    private void run(int connections, int rounds, Process echo, BufferedReader said)
            throws IOException, InterruptedException {
        warmUp();
        Usage before = Usage.now();
        long start = System.nanoTime();
        connect(connections);
        double seconds = seconds(start);
        Thread.sleep(1000);
        Usage open = Usage.now();
        System.out.printf(
                Locale.ROOT,
                "%d connections open after %.1f s, %.0f per second%n",
                connections,
                seconds,
                connections / seconds);
        System.out.println("client: " + open + "; " + open.per(before, connections));
        ask(echo, said);
        System.out.printf(
                Locale.ROOT,
                "both processes and the kernel: %.1f KiB per connection, both ends%n",
                (before.available() - open.available()) / 1024.0 / connections);
        for (int round = 0; round < rounds; round++) {
            start = System.nanoTime();
            exchange(round);
            System.out.printf(
                    Locale.ROOT,
                    "round %d: %d bytes each way on each of %d connections in %.2f s%n",
                    round + 1,
                    MESSAGE,
                    connections,
                    seconds(start));
        }
        System.out.println("client: " + Usage.now());
        start = System.nanoTime();
        streams.forEach(RdmaStream::close);
        long deadline = System.nanoTime() + PATIENCE;
        while (transport.liveStreams() > 0) {
            if (System.nanoTime() - deadline > 0) {
                throw new IOException(transport.liveStreams() + " streams are not freed "
                        + TimeUnit.NANOSECONDS.toSeconds(PATIENCE) + " s after their close");
            }
            Thread.sleep(20);
        }
        transport.freeIdle();
        Usage after = Usage.now();
        System.out.printf(Locale.ROOT, "all closed and freed after %.1f s%n", seconds(start));
        System.out.println("client: " + after);
        while (!ask(echo, said).startsWith("server: 0 streams")) {
            if (System.nanoTime() - deadline > 0) {
                throw new IOException("the server still has streams");
            }
            Thread.sleep(2000);
        }
        if (after.nativeMemory() != before.nativeMemory()
                || after.pinned() > before.pinned()
                || after.descriptors() > before.descriptors()) {
            throw new IOException("something stayed behind: " + before + " before, " + after + " after");
        }
    }

    /** Whatever is allocated once per process is, and the first stream's wire is known. */
    private void warmUp() throws IOException, InterruptedException {
        connect(1);
        exchange(0);
        // nothing comes: this thread has slept once, for which it keeps a descriptor
        streams.get(0).awaitReadable(TimeUnit.MILLISECONDS.toNanos(20));
        streams.remove(0).close();
        while (transport.liveStreams() > 0) {
            Thread.sleep(20);
        }
        transport.freeIdle();
    }

    private void connect(int connections) throws IOException {
        List<PendingConnect> pending = new ArrayList<>();
        for (int i = 0; i < connections; i++) {
            pending.add(transport.connect(null, server, StreamConfig.DEFAULT));
            if (pending.size() == CONNECTS_AT_ONCE || i == connections - 1) {
                for (PendingConnect one : pending) {
                    streams.add(one.await(PATIENCE));
                }
                pending.clear();
            }
        }
    }

    private void exchange(int round) throws IOException {
        for (int i = 0; i < streams.size(); i++) {
            fill(i, round);
            streams.get(i).write(message, 0, MESSAGE, PATIENCE);
        }
        for (int i = 0; i < streams.size(); i++) {
            RdmaStream stream = streams.get(i);
            for (int at = 0; at < MESSAGE; ) {
                int n = stream.read(answer, at, MESSAGE - at, PATIENCE);
                if (n < 0) {
                    throw new IOException("connection " + i + " ended");
                }
                at += n;
            }
            fill(i, round);
            if (!ByteBuffer.wrap(answer).equals(ByteBuffer.wrap(message))) {
                throw new IOException("connection " + i + " brought back something else in round " + round);
            }
        }
    }

    private void fill(int connection, int round) {
        ByteBuffer words = ByteBuffer.wrap(message);
        for (int i = 0; words.hasRemaining(); i++) {
            words.putInt(connection * 31 + round * 1_000_003 + i);
        }
    }

    /** @return what the server says of itself, which is printed too */
    private static String ask(Process echo, BufferedReader said) throws IOException {
        echo.getOutputStream().write('\n');
        echo.getOutputStream().flush();
        String answer = said.readLine();
        if (answer == null) {
            throw new IOException("the server ended");
        }
        System.out.println(answer);
        return answer;
    }

    private static double seconds(long start) {
        return (System.nanoTime() - start) / 1e9;
    }
}
