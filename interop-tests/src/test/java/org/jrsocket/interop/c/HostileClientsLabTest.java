/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrsocket.interop.c.JavaEnd.Api;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients on a real device that break the rules: HostilePeerTest's, and those that only a device tells. */
@Tag("lab")
@Tag("c")
@Tag("device")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class HostileClientsLabTest extends HostileTests {

    private static final int HALF_OPEN = 100;
    private static final int FLOOD_SECONDS = 20;
    /** Two of the budgets of a flood, which is counted by the second. */
    private static final int FLOOD_PER_SECOND = 2 * 4096;

    @Override
    Meeting meet(Served served, String lie) throws Exception {
        CompletableFuture<String> accept = served.java.accept(served.port);
        Hostile hostile = Hostile.client(served.port, lie);
        try {
            hostile.expect("connected");
            return new Meeting(hostile, served.java.accepted(accept));
        } catch (Throwable e) {
            hostile.close();
            throw e;
        }
    }

    // ---- absurd connection data ----

    @ParameterizedTest
    @ValueSource(strings = {"nothing", "noise", "version-2", "ring-past-the-end"})
    void shouldRefuseAClientThatSays(String lie) throws Exception {
        refuse(lie);
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(
            strings = {
                "half-of-it",
                "version-0",
                "version-255",
                "no-credits",
                "no-entries",
                "one-entry",
                "1025-entries",
                "negative-entries",
                "table-at-the-end",
                "ring-of-2-gib",
                "ring-of-4-gib"
            })
    void shouldRefuseAlsoAClientThatSays(String lie) throws Exception {
        refuse(lie);
    }

    private static void refuse(String lie) throws Exception {
        Served served = served(Api.STREAM);
        try (Hostile hostile = Hostile.client(served.port, lie)) {
            hostile.expect("refused 28");
        }
        served.assertServes();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ring-key-of-nobody", "table-key-of-nobody"})
    void shouldResetWhatIsGrantedWithAKeyOfNobody(String lie) throws Exception {
        Served served = served(Api.STREAM);
        try (Meeting met = meet(served, lie)) {
            JavaEnd.Connection connection = met.connection();
            CompletableFuture<String> read = connection.receiveAll();
            CompletableFuture<String> sent = connection.send(1000, 7); // which may succeed: it is under way then
            String failure = served.java.failure(read);
            sent.exceptionally(Throwable::toString).join();
            // the device flushes the receives too, and that may be seen first
            assertTrue(
                    failure.contains("refused the key or address that the peer had granted")
                            || failure.contains("the queue pair is in error"),
                    failure);
            connection.close();
        }
        served.awaitFreed();
        served.assertServes();
    }

    // ---- handshakes without an end ----

    /** They come from the honest client's address: it may have to try again, and then it is served. */
    @Test
    void shouldServeBesideHandshakesThatAreNeverCompleted() throws Exception {
        Served served = served(Api.STREAM);
        try (Hostile half = Hostile.half(served.port, HALF_OPEN)) {
            served.exchangeOverTheOldConnection();
            serveInTheEnd(served);
            String[] words = half.tell("answers").split(" ");
            assertEquals(HALF_OPEN, Integer.parseInt(words[1]) + Integer.parseInt(words[3]), half.program::toString);
        }
        served.awaitFreed();
        served.assertServes();
    }

    private static void serveInTheEnd(Served served) throws Exception {
        long deadline = System.nanoTime() + Lab.SOON.toNanos();
        for (; ; ) {
            try {
                served.assertServes();
                return;
            } catch (AssertionError e) {
                boolean busy = e.getMessage().contains("cannot take another RDMA connection at the moment");
                if (!busy || System.nanoTime() - deadline > 0) {
                    throw e;
                }
            }
        }
    }

    @Test
    void shouldForgetAClientThatDiesBeforeItSaysThatItIsConnected() throws Exception {
        Served served = served(Api.STREAM);
        try (Hostile mute = Hostile.mute(served.port)) {
            mute.program.kill();
        }
        served.assertServes();
        served.awaitFreed();
    }

    /** What it sends shows that it is there. */
    @Test
    void shouldResetAClientThatBreaksTheRulesBeforeItSaysThatItIsConnected() throws Exception {
        Served served = served(Api.STREAM);
        CompletableFuture<String> accept = served.java.accept(served.port);
        try (Hostile mute = Hostile.mute(served.port)) {
            assertEquals("status 0", mute.tell("post imm 6 here ring 5"));
            JavaEnd.Connection connection = served.java.accepted(accept);
            String failure = served.java.failure(connection.receiveAll());
            assertTrue(failure.contains("announced as 6"), failure);
            served.awaitFreed(); // the peer's connection manager ignores an end of what is not connected yet
            connection.close();
        }
        served.assertServes();
    }

    // ---- a connection that is broken by its client ----

    @Tag("long")
    @ParameterizedTest
    @EnumSource(Violation.class)
    void shouldResetTheConnectionAfterEach(Violation violation) throws Exception {
        reset(Api.STREAM, false, violation);
    }

    @ParameterizedTest
    @EnumSource(
            value = Violation.class,
            names = {"GRANT_PAST_THE_END_OF_MEMORY", "WRITE_BEHIND_THE_RING"})
    void shouldWakeAReaderUnderTheAgentAfter(Violation violation) throws Exception {
        reset(Api.AGENT, true, violation);
    }

    // ---- keys ----

    @Test
    void shouldNotLetAKeyOpenAnotherConnectionNorOutliveItsOwn() throws Exception {
        Served served = served(Api.STREAM);
        try (Meeting met = meet(served, "truth")) {
            Hostile owner = met.hostile();
            JavaEnd.Connection owned = met.connection();
            String[] where = owner.tell("where").split(" ");
            String intoTheRing = "post write 0 " + where[0] + ' ' + where[1] + " 5";
            String intoTheTable = "post write 0 " + where[2] + ' ' + where[3] + " 16";
            assertEquals("status 0", owner.tell(intoTheRing));
            assertRefused(served, intoTheRing, where);
            assertRefused(served, intoTheTable, where);
            assertEquals("status 0", owner.tell("data 5")); // nobody has hurt it
            served.java.get(owned.receive(5));
            owned.close();
            served.awaitFreed();
            assertNotEquals("status 0", owner.tell(intoTheRing));
            assertRefused(served, intoTheRing, where);
            assertRefused(served, intoTheTable, where);
        }
        served.assertServes();
    }

    /**
     * By the device, for a client that has a connection, and not that key. What a connection had is used again, for one
     * at a time and with its keys: who gets it is no thief, and holds it while the next one tries.
     */
    private void assertRefused(Served served, String request, String[] where) throws Exception {
        try (Meeting met = meet(served, "truth")) {
            Hostile thief = met.hostile();
            JavaEnd.Connection connection = met.connection();
            String[] own = thief.tell("where").split(" ");
            if (own[1].equals(where[1]) || own[3].equals(where[3])) {
                assertRefused(served, request, where);
                assertEquals("status 0", thief.tell("data 5")); // it neither
                served.java.get(connection.receive(5));
            } else {
                assertEquals(Violation.REMOTE_ACCESS_ERROR, thief.tell(request));
                assertTrue(served.java.failure(connection.receiveAll()).contains("Connection reset"));
            }
            connection.close();
        }
    }

    // ---- too much of it ----

    /** Messages that say nothing, as fast as they go: somebody waits, and would never sleep again. */
    @ParameterizedTest
    @CsvSource({
        "STREAM, flood imm 0xe0000063 0 0 0 " + FLOOD_SECONDS, // control, a code that nobody knows
        "STREAM, flood imm 0x80000180 0 0 0 " + FLOOD_SECONDS, // the limit that is known
        "STREAM, flood imm 0 0 0 0 " + FLOOD_SECONDS, // data of no bytes
        "STREAM, grants " + FLOOD_SECONDS, // grants of no bytes
        "AGENT, flood imm 0xe0000063 0 0 0 " + FLOOD_SECONDS
    })
    void shouldEndAFlood(Api api, String flood) throws Exception {
        Served served = served(api);
        boolean flooded;
        long perSecond;
        try (Meeting met = meet(served, "truth")) {
            JavaEnd.Connection connection = met.connection();
            CompletableFuture<String> read = connection.receiveAll();
            met.hostile().say(flood);
            served.exchangeOverTheOldConnection();
            String[] words = met.hostile().answer().split(" ");
            perSecond = Long.parseLong(words[1]) * 1000 / Math.max(1, Long.parseLong(words[3]));
            flooded = perSecond > FLOOD_PER_SECOND || read.isDone();
            if (flooded) {
                String failure = served.java.failure(read);
                assertTrue(failure.contains("messages without content"), failure);
                served.awaitFreed();
            }
            connection.abort();
        }
        served.awaitFreed();
        served.assertServes();
        Assumptions.assumeTrue(flooded, "too few messages a second to be a flood: " + perSecond);
    }

    /** Where nobody waits, a flood is stopped by the lack of receives, and a close comes through. */
    @Test
    void shouldCloseUnderAFlood() throws Exception {
        Served served = served(Api.STREAM);
        try (Meeting met = meet(served, "truth")) {
            JavaEnd.Connection connection = met.connection();
            met.hostile().say("flood imm 0xe0000063 0 0 0 60");
            served.assertServes();
            connection.close();
            served.awaitFreed();
        }
        served.assertServes();
    }
}
