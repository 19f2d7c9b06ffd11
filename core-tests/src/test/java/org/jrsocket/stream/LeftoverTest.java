/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.SocketException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jrsocket.endpoint.Bundle;
import org.jrsocket.stream.HookedVerbs.Point;
import org.jrsocket.threads.Threads;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.Test;

/**
 * What a writer leaves behind always has somebody who sends it, whoever took the events of the stream meanwhile and
 * whatever went wrong.
 */
class LeftoverTest extends RawPeerTests {

    private static final int HALF = 100;

    private HookedVerbs hooked;

    @Override
    VerbsProvider wrap(LoopbackProvider provider) {
        hooked = new HookedVerbs(provider);
        return hooked;
    }

    /**
     * The service thread waits for the peer's room. A reader that sleeps takes the event of the grant, sends what was
     * left, and takes the event of that request's completion; so the send queue is unarmed, and the reader has no
     * reason to arm it. The next burst must not wait for somebody else's traffic.
     */
    @Test
    void shouldSendTheTailOfABurstAfterAReaderTookTheEventsThatTheServiceThreadWaitedFor() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(HALF));
        CountDownLatch watched = new CountDownLatch(1);
        AtomicInteger readersLooks = new AtomicInteger();
        hooked.hook = (at, queue) -> {
            String thread = Thread.currentThread().getName();
            if (at == Point.AFTER_ARM && queue == Bundle.SEND_COOKIE && thread.equals("jrsocket-service")) {
                watched.countDown();
            }
            if (at == Point.AFTER_POLL && queue == Bundle.RECV_COOKIE && thread.equals("reader")) {
                readersLooks.incrementAndGet();
            }
        };
        l.stream().write(new byte[4 * HALF], 0, 4 * HALF, PATIENCE);
        watched.await();
        CountDownLatch free = new CountDownLatch(1);
        keepTheServiceThreadBusy(free);
        Future<Integer> reader = background(() -> {
            Thread.currentThread().setName("reader");
            return l.stream().read(new byte[1], 0, 1, 0);
        });
        RawPeer.await(() -> readersLooks.get() >= 2, () -> "the reader does not go to sleep");
        verbs.faults().holdAcks(true);
        l.peer().grantRing(HALF, HALF);
        RawPeer.await(() -> l.peer().dataBytes() == 2 * HALF, () -> "nobody took the first grant");
        l.peer().grantRing(0, HALF);
        RawPeer.await(() -> l.peer().dataBytes() == 3 * HALF, () -> "nobody took the second grant");
        l.peer().grantRing(0, 2 * HALF); // for the fourth message, which asks for a completion
        RawPeer.await(() -> l.peer().dataBytes() == 4 * HALF, () -> "nobody took the third grant");
        int before = readersLooks.get();
        verbs.faults().holdAcks(false);
        RawPeer.await(() -> readersLooks.get() > before, () -> "the reader did not take the completion's event");
        free.countDown();
        passTheServiceThread();

        verbs.faults().holdAcks(true);
        for (int i = 0; i < 10; i++) { // more than may be on their way at once
            l.stream().write(new byte[1], 0, 1, PATIENCE);
        }
        assertTrue(l.peer().dataBytes() < 4 * HALF + 10, "there is no tail");
        verbs.faults().holdAcks(false);
        RawPeer.await(
                () -> l.peer().dataBytes() == 4 * HALF + 10,
                () -> "only " + l.peer().dataBytes() + " bytes came");
        l.peer().data((byte) 7);
        assertEquals(1, get(reader));
    }

    /** Callers that wait for it have to notice. */
    @Test
    void shouldCountAsStuckWhileTheDeviceHangsUnderTheServiceThread() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(HALF));
        CountDownLatch goOn = new CountDownLatch(1);
        hooked.hook = (at, queue) -> {
            if (at == Point.AFTER_ARM && Thread.currentThread().getName().equals("jrsocket-service")) {
                Threads.await(goOn, PATIENCE);
            }
        };
        l.stream().write(new byte[4 * HALF], 0, 4 * HALF, PATIENCE);
        RawPeer.await(() -> transport.hungNanos() > 0, () -> "nobody would notice");
        goOn.countDown();
    }

    /**
     * The service thread waits for an event, and what it waited for is long done. What a burst leaves then raises none:
     * it has to be sent all the same.
     */
    @Test
    void shouldSendWhatABurstCollectsAlthoughTheServiceThreadWaitsForAnEvent() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(4 * HALF).credits(1000));
        l.stream().write(new byte[5 * HALF], 0, 5 * HALF, PATIENCE);
        StreamDriver core = l.stream().core();
        RawPeer.await(() -> held(core, () -> core.waits.isLookedAfter()), () -> "the service thread does not wait");
        CountDownLatch free = new CountDownLatch(1);
        keepTheServiceThreadBusy(free);
        l.peer().grantRing(0, 4 * HALF);
        verbs.onMessage((from, to, opcode, imm, length, address, key) -> {
            long start = System.nanoTime();
            while (System.nanoTime() - start < 200_000) { // posts that take so long make a burst
                Thread.onSpinWait();
            }
            l.peer().record(to, opcode, imm, length, address, key);
        });
        int written = 5 * HALF;
        do {
            l.stream().takeEvent();
            l.stream().write(new byte[1], 0, 1, PATIENCE);
            written++;
        } while (written < 7 * HALF && !held(core, core::hasLeftover));
        assertTrue(held(core, core::hasLeftover), "there was no burst");
        free.countDown();
        // In turns of the service thread, too few for it to find the stream idle, which would send it as well.
        for (int turn = 0; turn < 1000 && l.peer().dataBytes() < written; turn++) {
            passTheServiceThread();
            LockSupport.parkNanos(1_000_000);
        }
        assertEquals(written, l.peer().dataBytes());
    }

    /**
     * The reader may wait for the answer to what is left. The service thread is late, and the reader does not sleep.
     */
    @Test
    void shouldSendTheTailOfABurstWhileAReaderPolls() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT, CONFIG.withSpinNanos(PATIENCE));
        CountDownLatch polls = new CountDownLatch(1);
        hooked.hook = (at, queue) -> {
            if (at == Point.AFTER_POLL && Thread.currentThread().getName().equals("reader")) {
                polls.countDown();
            }
        };
        keepTheServiceThreadBusy(new CountDownLatch(1));
        verbs.faults().holdAcks(true);
        burst(l);
        Future<Integer> reader = background(() -> {
            Thread.currentThread().setName("reader");
            return l.stream().read(new byte[1], 0, 1, 0);
        });
        polls.await();
        verbs.faults().holdAcks(false);
        RawPeer.await(() -> l.peer().dataBytes() == 10, () -> "only " + l.peer().dataBytes() + " bytes came");
        l.peer().data((byte) 7);
        assertEquals(1, get(reader));
    }

    private static boolean held(StreamCore core, BooleanSupplier question) {
        core.enter();
        try {
            return question.getAsBoolean();
        } finally {
            core.exit();
        }
    }

    /** Whatever goes wrong in one stream: its users learn of it, and other streams are still looked after. */
    @Test
    void shouldResetAStreamThatCannotBeFlushedAndFlushTheOthers() throws Exception {
        Link broken = link(Role.PASSIVE);
        Link other = link(Role.PASSIVE);
        AtomicInteger thrown = new AtomicInteger();
        hooked.hook = (at, queue) -> {
            if (at == Point.BEFORE_POLL
                    && Thread.currentThread().getName().equals("jrsocket-service")
                    && thrown.getAndIncrement() == 0) {
                throw new OutOfMemoryError("says a test");
            }
        };
        verbs.faults().holdAcks(true);
        try {
            burst(broken);
        } catch (SocketException e) {
            assertTrue(thrown.get() > 0, "before it was looked after"); // which is soon, for a writer that is slow
        }
        RawPeer.await(() -> thrown.get() > 0, () -> "nobody looked after the first stream");
        burst(other);
        verbs.faults().holdAcks(false);
        RawPeer.await(() -> other.peer().dataBytes() == 10, () -> "the other stream's tail is not sent");
        SocketException e =
                assertThrows(SocketException.class, () -> broken.stream().read(new byte[1], 0, 1, PATIENCE));
        assertEquals("Connection reset", e.getMessage());
    }

    /** The same where the service thread has the leftovers, because the peer has no room. */
    @Test
    void shouldResetAStreamThatTheServiceThreadCannotLookAfter() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(HALF));
        AtomicInteger thrown = new AtomicInteger();
        hooked.hook = (at, queue) -> {
            if (at == Point.BEFORE_POLL
                    && Thread.currentThread().getName().equals("jrsocket-service")
                    && thrown.getAndIncrement() == 0) {
                throw new OutOfMemoryError("says a test");
            }
        };
        l.stream().write(new byte[3 * HALF], 0, 3 * HALF, PATIENCE);
        RawPeer.await(() -> thrown.get() > 0, () -> "the service thread did not look");
        SocketException e = assertThrows(SocketException.class, () -> l.stream().read(new byte[1], 0, 1, PATIENCE));
        assertEquals("Connection reset", e.getMessage());
    }

    /** Whoever has a stream's lock for long, as one does who registers memory, keeps no other stream waiting. */
    @Test
    void shouldLookAfterOtherStreamsWhileSomebodyIsBusyWithOne() throws Exception {
        Link busy = link(Role.PASSIVE);
        Link other = link(Role.PASSIVE);
        CountDownLatch free = new CountDownLatch(1);
        keepTheServiceThreadBusy(free);
        verbs.faults().holdAcks(true);
        burst(busy);
        burst(other);
        StreamCore core = busy.stream().core();
        core.enter();
        try {
            free.countDown();
            verbs.faults().holdAcks(false);
            RawPeer.await(() -> other.peer().dataBytes() == 10, () -> "the other stream's tail is not sent");
        } finally {
            core.exit();
        }
        RawPeer.await(() -> busy.peer().dataBytes() == 10, () -> "the tail is not sent");
    }

    private static void burst(Link l) throws Exception {
        for (int i = 0; i < 10; i++) {
            l.stream().write(new byte[1], 0, 1, PATIENCE);
        }
        assertTrue(l.peer().dataBytes() < 10, "there is no tail");
    }
}
