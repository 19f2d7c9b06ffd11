/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jrsocket.threads.PatientLock;
import org.junit.jupiter.api.Test;

/** What a transport counts. */
class TotalsTest extends RawPeerTests {

    /** Monitoring takes differences: a sum that goes back for a moment is a burst of 2^64 bytes to it. */
    @Test
    void shouldNeverGoBackWhileConnectionsEnd() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        Future<Void> watcher = background(() -> {
            Totals before = transport.totals();
            while (!over.get()) {
                Totals now = transport.totals();
                assertTrue(now.bytesWritten() >= before.bytesWritten(), now + " after " + before);
                assertTrue(now.bytesRead() >= before.bytesRead(), now + " after " + before);
                before = now;
            }
            return null;
        });
        int rounds = 300;
        for (int i = 0; i < rounds && !watcher.isDone(); i++) {
            try (StreamPair p = StreamPair.connect(transport, HERE, CONFIG.withBuffers(4096, 4096))) {
                p.client.write(new byte[100], 0, 100, PATIENCE);
                StreamBehaviour.readFully(p.server, new byte[100]);
            }
        }
        over.set(true);
        get(watcher);
        RawPeer.await(() -> transport.liveStreams() == 0, () -> "not freed");
        assertEquals(100L * rounds, transport.totals().bytesRead());
        assertEquals(100L * rounds, transport.totals().bytesWritten());
    }

    /** A device may hold up whoever has a connection's lock, and with it the sums, but no other connection. */
    @Test
    void shouldLetConnectionsEndWhileTheSumsWaitForOne() throws Exception {
        try (StreamPair held = StreamPair.connect(transport, HERE, CONFIG)) {
            StreamPair other = StreamPair.connect(transport, HERE, CONFIG);
            AtomicReference<Thread> asking = new AtomicReference<>();
            Future<Totals> totals;
            held.client.core().enter();
            try {
                totals = background(() -> {
                    asking.set(Thread.currentThread());
                    return transport.totals();
                });
                RawPeer.await(
                        () -> asking.get() != null && LockSupport.getBlocker(asking.get()) instanceof PatientLock,
                        () -> "it does not wait");
                other.close();
                RawPeer.await(() -> transport.liveStreams() == 2, () -> "the other has not ended");
            } finally {
                held.client.core().exit();
            }
            assertTrue(get(totals).open() >= 2);
        }
    }

    /** Also if it ends in a poll, of whoever it is. */
    @Test
    void shouldCountEachWaitForThePeer() throws Exception {
        int half = 100;
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(half));
        keepTheServiceThreadBusy(new CountDownLatch(1));
        l.stream().write(new byte[3 * half], 0, 3 * half, PATIENCE);
        assertEquals(1, l.stream().stalls());
        l.peer().grantRing(half, half);
        l.peer().grantRing(0, half);
        RawPeer.await(
                () -> {
                    l.stream().poll();
                    return l.peer().dataBytes() == 3L * half;
                },
                () -> l.peer().dataBytes() + " bytes came");
        assertEquals(1, l.stream().stalls());
        l.stream().write(new byte[half], 0, half, PATIENCE);
        assertEquals(2, l.stream().stalls());
        l.stream().abort();
    }

    @Test
    void shouldCountHowOftenAStreamWaitedForItsPeer() throws Exception {
        try (StreamPair p = StreamPair.connect(transport, HERE, CONFIG.withBuffers(4096, 4096))) {
            assertEquals(0, p.client.stalls());
            byte[] bytes = new byte[1 << 20];
            Future<Void> writer = background(() -> {
                p.client.write(bytes, 0, bytes.length, PATIENCE);
                return null;
            });
            RawPeer.await(() -> p.client.stalls() > 0, () -> "it does not wait");
            StreamBehaviour.readFully(p.server, bytes);
            get(writer);
            assertEquals(0, p.server.stalls());
        }
    }
}
