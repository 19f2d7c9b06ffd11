/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.jrsocket.stream.HookedVerbs.Point;
import org.jrsocket.threads.Threads;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is told of connections must not wait for a device that hangs: people ask just then. */
class HangingDeviceTest extends RawPeerTests {

    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch answer = new CountDownLatch(1);
    private HookedVerbs hooked;

    @Override
    VerbsProvider wrap(LoopbackProvider provider) {
        hooked = new HookedVerbs(provider);
        return hooked;
    }

    @AfterEach
    void answerAtLast() {
        answer.countDown();
    }

    private void hang() {
        reached.countDown();
        Threads.await(answer, PATIENCE);
    }

    private void hangAt(Point point) {
        hooked.hook = (at, cookie) -> {
            if (at == point) {
                hang();
            }
        };
    }

    /** Everything that JMX asks, while the device hangs. */
    private void assertTold(int streams) throws Exception {
        assertTrue(Threads.await(reached, PATIENCE), "nothing hangs");
        assertEquals(streams, get(background(() -> {
            Totals totals = transport.totals();
            assertTrue(totals.registeredBytes() >= 0 && totals.memoryRefusals() >= 0);
            for (RdmaStream each : transport.streams()) {
                assertTrue(each.toString().contains(each.deviceName()));
                assertTrue(each.bytesRead() + each.bytesWritten() + each.stalls() + each.nanosOpen() >= 0);
                assertTrue(
                        each.registeredBytes() >= 0 && StreamProgress.of(each).unread() >= 0);
                assertFalse(each.isFreed());
            }
            return totals.open() + totals.closing();
        })));
        assertEquals(1, answer.getCount());
    }

    @Test
    void shouldTellWhileAQueuePairIsBeingMade() throws Exception {
        Link l = link(Role.PASSIVE);
        hangAt(Point.BEFORE_QP);
        PendingConnect pending = transport.connect(null, rawListen().address(), CONFIG);
        assertTold(1);
        pending.cancel();
        l.stream().abort();
    }

    @Test
    void shouldTellWhileMemoryIsBeingRegistered() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(100), CONFIG);
        hangAt(Point.BEFORE_REGISTER);
        Future<Integer> writing = background(() -> l.stream().write(ByteBuffer.allocate(100_000)));
        assertTold(1);
        answer.countDown();
        assertTrue(get(writing) > 0);
    }

    @Test
    void shouldTellWhileAQueuePairIsBeingDestroyed() throws Exception {
        Link l = link(Role.PASSIVE);
        hooked.beforeDestroyQp = device -> hang();
        l.stream().abort();
        assertTold(1);
    }

    @Test
    void shouldTellWhileTheConnectionManagerIsAsked() throws Exception {
        Link l = link(Role.PASSIVE);
        hooked.beforeEvent = this::hang;
        l.peer().close();
        assertTold(1);
    }
}
