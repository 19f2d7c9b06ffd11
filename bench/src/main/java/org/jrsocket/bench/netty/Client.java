/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.netty;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.util.Locale;
import org.jrsocket.bench.lab.RoundTrips;

/**
 * The active process of a pair: {@code Client netty|grpc nio|rdma ADDRESS PORT}. Takes the commands of
 * {@link org.jrsocket.bench.lab.Client}, {@code rtt} and {@code stream}, and answers as that does. WAIT is "lend" for a
 * server that reads what it gets where the device has put it, else "sleep".
 */
public final class Client {

    private Client() {}

    public static void main(String[] args) throws IOException {
        Exchange exchange = Exchange.with(
                args[0],
                Transport.valueOf(args[1].toUpperCase(Locale.ROOT)),
                new InetSocketAddress(args[2], Integer.parseInt(args[3])));
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        System.out.println("ready");
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            System.out.println(answer(exchange, line));
        }
        System.exit(0);
    }

    static String answer(Exchange exchange, String line) {
        String[] word = line.split(" ");
        int size = Integer.parseInt(word[1]);
        int count = Integer.parseInt(word[2]);
        try {
            switch (word[0]) {
                case "rtt" -> {
                    RoundTrips trips = new RoundTrips(size, count);
                    exchange.run(trips);
                    return "ok " + trips.results();
                }
                case "stream" -> {
                    long nanos = exchange.stream(size, count, word[word.length - 1].equals("lend"));
                    return String.format(Locale.ROOT, "ok seconds=%.6f", nanos / 1e9);
                }
                default -> throw new IllegalArgumentException("unknown command " + line);
            }
        } catch (Exception e) {
            e.printStackTrace();
            return "failed " + e;
        }
    }
}
