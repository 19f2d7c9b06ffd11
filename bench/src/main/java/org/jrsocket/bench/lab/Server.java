/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * The passive process of a pair: {@code Server CARRIER ADDRESS PORT}. Listens at PORT with the carrier's ordinary waits
 * and at PORT + 1 with spinning ones, says "ready", serves one thread per connection, and ends with its standard input.
 */
public final class Server {

    private Server() {}

    public static void main(String[] args) throws IOException {
        Carrier carrier = Carrier.named(args[0]);
        int port = Integer.parseInt(args[2]);
        for (int i = 0; i < 2; i++) {
            Carrier.Acceptor acceptor = carrier.listen(new InetSocketAddress(args[1], port + i), i == 1);
            start("accept-" + i, () -> accept(acceptor));
        }
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // whoever started this process closes its input to end it
        }
        System.exit(0);
    }

    private static void accept(Carrier.Acceptor acceptor) {
        try {
            for (; ; ) {
                Wire wire = acceptor.accept();
                start("serve", () -> serve(wire));
            }
        } catch (IOException e) {
            e.printStackTrace();
            System.exit(1);
        }
    }

    private static void start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    @SuppressWarnings("CatchAndPrintStackTrace") // whoever started this program reads it
    private static void serve(Wire wire) {
        try (wire) {
            Request request = Request.receive(wire);
            switch (request.what()) {
                case Request.ECHO -> wire.echo(new byte[request.size()]);
                case Request.SINK -> {
                    wire.readAll(new byte[request.size()], request.size() * request.count());
                    wire.write(new byte[1], 1);
                }
                case Request.TOUCH -> wire.write(new byte[1], 1);
                default -> throw new IOException("a client asked for '" + (char) request.what() + "'");
            }
            while (wire.read(new byte[1], 0, 1) >= 0) {
                // until the client closes
            }
        } catch (IOException e) {
            e.printStackTrace();
        }
    }
}
