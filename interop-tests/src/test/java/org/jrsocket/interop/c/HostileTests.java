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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests against {@link Hostile} peers, clients or servers. Whatever these do: the Java end goes on with the connections
 * that it has, takes new ones, and at the end holds no more of the device than after its first connection.
 */
abstract class HostileTests extends CPeerTests {

    /** A peer that is connected and tells {@code lie} of itself. */
    abstract Meeting meet(Served served, String lie) throws Exception;

    /** A hostile peer and our end of the connection with it. Closing kills the peer. */
    record Meeting(Hostile hostile, JavaEnd.Connection connection) implements AutoCloseable {
        @Override
        public void close() {
            hostile.close();
        }
    }

    /** What is odd, but possible. */
    @ParameterizedTest
    @ValueSource(strings = {"unknown-flags", "no-ring"})
    void shouldTalkWithAPeerThatSays(String lie) throws Exception {
        talk(lie);
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"all-credits", "odd-ring"})
    void shouldTalkAlsoWithAPeerThatSays(String lie) throws Exception {
        talk(lie);
    }

    private void talk(String lie) throws Exception {
        Served served = served(Api.STREAM);
        try (Meeting met = meet(served, lie)) {
            CompletableFuture<String> send = met.connection.send(1000, 7);
            if (lie.equals("no-ring")) {
                assertEquals("status 0", met.hostile.tell("grant mine mine 1000"));
            }
            assertEquals("status 0", met.hostile.tell("echo 1000"));
            assertEquals(served.java.get(send), served.java.get(met.connection.receive(1000)));
            met.connection.close();
        }
        served.awaitFreed();
        served.assertServes();
    }

    @ParameterizedTest
    @EnumSource(
            value = Violation.class,
            names = {
                "DATA_LONGER_THAN_ANNOUNCED",
                "DATA_BEYOND_WHAT_WAS_GRANTED",
                "CREDITS_BEYOND_THE_WINDOW",
                "GRANT_PAST_THE_END_OF_MEMORY",
                "CONTROL_MESSAGE_WITH_PAYLOAD",
                "WRITE_BEHIND_THE_RING",
                "READ_OF_THE_RING"
            })
    void shouldResetTheConnectionAfter(Violation violation) throws Exception {
        reset(Api.STREAM, false, violation);
    }

    /** {@code api} tells how it is read, {@code waiting} whether somebody waits when it happens. */
    final void reset(Api api, boolean waiting, Violation violation) throws Exception {
        Served served = served(api);
        try (Meeting met = meet(served, "truth")) {
            assertEquals("status 0", met.hostile.tell("data 5"));
            served.java.get(met.connection.receive(5));
            CompletableFuture<String> read = waiting ? met.connection.receiveAll() : null;
            violation.commit(met.hostile);
            String failure = served.java.failure(waiting ? read : met.connection.receiveAll());
            assertTrue(failure.contains("Connection reset"), failure);
            assertTrue(violation.isNamed(failure), failure);
            if (violation.byTheDevice) {
                met.connection.close(); // the peer can write no more: what is there may be read at leisure
                served.awaitFreed();
            } else {
                served.awaitFreed();
                assertTrue(met.hostile.tell("end").startsWith("over"), met.hostile.program::toString);
                met.connection.close();
            }
        }
        served.assertServes();
    }

    @ParameterizedTest
    @ValueSource(strings = {"truth", "no-ring"})
    void shouldFailReaderAndWriterWhenThePeerIsKilledThatSays(String lie) throws Exception {
        loseKilled(Api.STREAM, lie);
    }

    @Tag("long")
    @Test
    void shouldFailReaderAndWriterUnderTheAgentWhenThePeerIsKilled() throws Exception {
        loseKilled(Api.AGENT, "truth");
    }

    private void loseKilled(Api api, String lie) throws Exception {
        Served served = served(api);
        try (Meeting met = meet(served, lie)) {
            CompletableFuture<String> read = met.connection.receiveAll();
            CompletableFuture<String> write = met.connection.send(10_000_000, 1); // far more than it grants
            met.hostile.say("fill"); // as long as somebody reads
            met.hostile.program.kill();
            String writeFailed = served.java.failure(write);
            if (writeFailed.contains("SocketException: Connection reset by peer")) { // told first, as by the kernel
                assertEquals(Api.AGENT, api, writeFailed);
                served.java.get(read); // the end
            } else {
                assertTrue(writeFailed.contains("SocketException"), writeFailed);
                assertTrue(served.java.failure(read).contains("Connection reset"));
            }
            met.connection.close();
        }
        served.awaitFreed();
        served.assertServes();
    }

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
