/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrsocket.interop.c.JavaEnd.Api;
import org.junit.jupiter.api.AfterAll;

/**
 * Tests against {@link Hostile} peers. Whatever these do: the Java end goes on with the connections that it has, takes
 * new ones, and at the end holds no more of the device than after its first connection.
 */
abstract class HostileTests extends CPeerTests {

    private static final int BYTES = 20_000;
    private static final Map<Api, Served> SERVED = new EnumMap<>(Api.class);

    /** An end that listens, and has one connection with itself from the beginning. */
    static final class Served {

        final JavaEnd java;
        final int port;
        private final Holdings before;
        private final JavaEnd.Connection client;
        private final JavaEnd.Connection server;
        private int live; // before the test: one that failed may have left something
        private long seed;

        private Served(Api api) throws Exception {
            java = java(api);
            port = java.listen(false);
            exchangeOverANewConnection();
            before = Holdings.await(java.program(), holdings -> !holdings.hasConnections());
            CompletableFuture<String> accept = java.accept(port);
            client = java.connect(false, port);
            server = java.accepted(accept);
        }

        /** The connection that was there before, and one that was not, still work. */
        void assertServes() throws Exception {
            exchange(client, server);
            exchangeOverANewConnection();
        }

        void exchangeOverTheOldConnection() {
            exchange(client, server);
        }

        private void exchangeOverANewConnection() {
            CompletableFuture<String> accept = java.accept(port);
            JavaEnd.Connection near = java.connect(false, port);
            JavaEnd.Connection far = java.accepted(accept);
            exchange(near, far);
            near.close();
            far.close();
        }

        private void exchange(JavaEnd.Connection one, JavaEnd.Connection other) {
            transfer(one, other);
            transfer(other, one);
        }

        private void transfer(JavaEnd.Connection from, JavaEnd.Connection to) {
            CompletableFuture<String> received = to.receive(BYTES);
            String sent = java.get(from.send(BYTES, ++seed));
            assertEquals(sent, java.get(received));
        }

        /** All that the test has made is freed, whether the application has closed it or not. */
        void awaitFreed() throws InterruptedException {
            long deadline = System.nanoTime() + Lab.SOON.toNanos();
            while (java.live() > live) {
                assertTrue(System.nanoTime() - deadline < 0, () -> java.live() + " streams instead of " + live);
                TimeUnit.MILLISECONDS.sleep(20);
            }
        }

        private void end() throws InterruptedException {
            client.close();
            server.close();
            java.unlisten(port);
            Holdings.await(
                    java.program(),
                    now -> now.queuePairs() <= before.queuePairs()
                            && now.regions() <= before.regions()
                            && now.queues() <= before.queues()
                            && now.domains() <= before.domains()
                            && now.descriptors() <= before.descriptors());
        }
    }

    static Served served(Api api) throws Exception {
        Served served = SERVED.get(api);
        if (served == null) {
            served = new Served(api);
            SERVED.put(api, served);
        }
        served.live = served.java.live();
        return served;
    }

    @AfterAll
    static void everythingIsGivenBack() throws Exception {
        try {
            for (Served served : SERVED.values()) {
                served.end();
            }
        } finally {
            SERVED.clear();
        }
    }
}
