/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * The active process of a pair: {@code Client CARRIER ADDRESS PORT}. Takes one command per line from its standard input
 * and answers each with one line, "ok" and results as NAME=VALUE, or "failed" and why:
 *
 * <pre>
 * rtt SIZE COUNT WAIT          p50, mean, p99, min, max in microseconds
 * stream SIZE COUNT READ WAIT  COUNT writes of SIZE, read by READ bytes at a time: seconds
 * touch COUNT WAIT             connect, a byte each way, close, COUNT times: seconds
 * idle SECONDS WAIT            CPU of this process, in percent, while one thread of it waits for data that does not
 * come
 * </pre>
 *
 * WAIT is "spin", or "sleep" for the carrier's ordinary waits. Echoed messages are checked.
 */
public final class Client {

    // USER_HZ: ticks per second in /proc, whatever the kernel's HZ
    private static final int HUNDRED_PERCENT_TICKS = 100;

    private final Carrier carrier;
    private final String address;
    private final int port;

    private Client(String[] args) throws IOException {
        carrier = Carrier.named(args[0]);
        address = args[1];
        port = Integer.parseInt(args[2]);
    }

    public static void main(String[] args) throws IOException {
        Client client = new Client(args);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        System.out.println("ready");
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            System.out.println(client.answer(line));
        }
        System.exit(0);
    }

    private String answer(String line) {
        String[] word = line.split(" ");
        try (Wire wire = word[0].equals("touch") ? null : open(word)) {
            return "ok "
                    + switch (word[0]) {
                        case "rtt" -> roundTrips(wire, Integer.parseInt(word[1]), Integer.parseInt(word[2]));
                        case "stream" ->
                            stream(
                                    wire,
                                    Integer.parseInt(word[1]),
                                    Integer.parseInt(word[2]),
                                    Integer.parseInt(word[3]));
                        case "touch" -> touch(Integer.parseInt(word[1]), word);
                        case "idle" -> idle(wire, Integer.parseInt(word[1]));
                        default -> throw new IllegalArgumentException("unknown command " + line);
                    };
        } catch (IOException | RuntimeException | InterruptedException e) {
            e.printStackTrace();
            return "failed " + e;
        }
    }

    private Wire open(String[] command) throws IOException {
        boolean spinning = command[command.length - 1].equals("spin");
        return carrier.connect(new InetSocketAddress(address, port + (spinning ? 1 : 0)), spinning);
    }

    private static String roundTrips(Wire wire, int size, int count) throws IOException {
        new Request(Request.ECHO, size, 0).send(wire);
        RoundTrips trips = new RoundTrips(size, count);
        wire.run(trips);
        return trips.results();
    }

    private static String stream(Wire wire, int size, int count, int read) throws IOException {
        long bytes = (long) size * count;
        if (bytes % read != 0) {
            throw new IllegalArgumentException(bytes + " bytes cannot be read by " + read);
        }
        new Request(Request.SINK, read, bytes / read).send(wire);
        byte[] data = new byte[size];
        long start = System.nanoTime();
        wire.writeAll(data, count);
        wire.readFully(data, 1);
        return seconds(start);
    }

    private String touch(int count, String[] command) throws IOException {
        byte[] one = {Request.TOUCH};
        byte[] answer = new byte[1];
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) {
            try (Wire wire = open(command)) {
                wire.write(one, 1);
                wire.readFully(answer, 1);
            }
        }
        return seconds(start);
    }

    private static String seconds(long start) {
        return String.format(Locale.ROOT, "seconds=%.6f", (System.nanoTime() - start) / 1e9);
    }

    private static String idle(Wire wire, int seconds) throws IOException, InterruptedException {
        new Request(Request.ECHO, 1, 0).send(wire);
        byte[] one = new byte[1];
        wire.write(one, 1);
        wire.readFully(one, 1);
        Thread reader = new Thread(() -> {
            try {
                wire.read(new byte[1], 0, 1);
            } catch (IOException e) {
                // closed below: that is how it ends
            }
        });
        reader.start();
        Thread.sleep(1000);
        long before = cpuTicks();
        Thread.sleep(seconds * 1000L);
        double percent = 100.0 * (cpuTicks() - before) / (HUNDRED_PERCENT_TICKS * seconds);
        wire.close();
        reader.join(10_000);
        if (reader.isAlive()) {
            throw new IOException("a reader did not end when its connection was closed");
        }
        return String.format(Locale.ROOT, "percent=%.2f", percent);
    }

    private static long cpuTicks() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        String[] field = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return Long.parseLong(field[11]) + Long.parseLong(field[12]);
    }
}
