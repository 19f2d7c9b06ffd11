/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrsocket.stream.HookedVerbs.Point;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Freeing what a stream had: a device may take long over it, and memory for the heap may run out meanwhile. */
class FreeingTest extends RawPeerTests {

    private HookedVerbs hooked;
    private final CountDownLatch slow = new CountDownLatch(1);

    @Override
    VerbsProvider wrap(LoopbackProvider provider) {
        hooked = new HookedVerbs(provider);
        return hooked;
    }

    @AfterEach
    void release() {
        slow.countDown();
    }

    private StreamPair pair() throws IOException {
        return later(StreamPair.connect(transport, HERE, CONFIG));
    }

    /** The device takes its time over the first queue pair that is destroyed. @return when it has begun */
    private CountDownLatch slowDevice() {
        CountDownLatch begun = new CountDownLatch(1);
        AtomicBoolean first = new AtomicBoolean(true);
        hooked.afterDestroyQp = () -> {
            if (first.getAndSet(false)) {
                begun.countDown();
                try {
                    slow.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        };
        return begun;
    }

    @Test
    void shouldKeepNobodyWaitingWhileADeviceIsSlow() throws Exception {
        StreamPair p = pair();
        verbs.faults().holdAcks(true);
        LentMemory memory = p.client.register(ByteBuffer.allocateDirect(100));
        p.client.writeLent(memory, 0, 100);
        CountDownLatch freed = new CountDownLatch(1);
        CountDownLatch begun = slowDevice();
        p.client.abort();
        assertTrue(begun.await(60, TimeUnit.SECONDS));
        p.server.abort(); // which has the connection manager tell the other end
        get(background(() -> {
            p.client.whenSendsAreOver(freed::countDown);
            StreamPair next = pair(); // by the service thread
            next.client.write(new byte[1], 0, 1, PATIENCE);
            assertEquals(1, read(next.server, 1).length);
            assertTrue(transport.totals().open() > 0);
            assertFalse(memory.isFree(), "the device may still use it");
            assertFalse(p.client.isFreed());
            memory.close();
            return null;
        }));
        assertEquals(1, freed.getCount());
        slow.countDown();
        assertTrue(freed.await(60, TimeUnit.SECONDS));
        assertTrue(memory.isFree());
        RawPeer.await(p.client::isFreed, () -> "not freed");
    }

    @Test
    void shouldFreeTheRestWhenMemoryRunsOutMeanwhile() throws Exception {
        StreamPair p = pair();
        CountDownLatch freed = new CountDownLatch(2);
        p.client.whenSendsAreOver(freed::countDown);
        p.server.whenSendsAreOver(freed::countDown);
        hooked.afterDestroyQp = () -> {
            throw new OutOfMemoryError("as the test wants");
        };
        p.client.close();
        assertEquals(-1, p.server.read(new byte[1], 0, 1, PATIENCE));
        p.server.close();
        assertTrue(freed.await(60, TimeUnit.SECONDS));
        RawPeer.await(() -> transport.liveStreams() == 0, () -> "not freed");
        hooked.afterDestroyQp = () -> {};
    }

    private static void outOfMemory() {
        throw new OutOfMemoryError("as the test wants");
    }

    /** Ends a connection, and expects that all that it had is freed. */
    private void endsWithoutALoss(Link l) {
        l.stream().abort();
        RawPeer.await(
                () -> transport.liveStreams() == 0 && transport.registeredMemory() == 0,
                () -> transport.liveStreams() + " streams and " + transport.registeredMemory() + " bytes are left");
        RawPeer.await(() -> verbs.liveObjects().pds() == peers.size(), () -> "not freed: " + verbs.liveObjects());
    }

    @Test
    void shouldFreeWhatCannotBeMadeReadyForTheNextConnection() throws Exception {
        Link l = link(Role.PASSIVE);
        hooked.afterDestroyQp = () -> hooked.hook = (at, cookie) -> {
            if (at == Point.BEFORE_POLL) {
                outOfMemory();
            }
        };
        endsWithoutALoss(l);
    }

    @Test
    void shouldFreeTheRestOfWhatIsNotKeptWhenMemoryRunsOutMeanwhile() throws Exception {
        Link l = link(Role.PASSIVE);
        l.peer().bare(3 << 29); // which none may send: nothing of this connection is used again
        hooked.afterDestroyCq = FreeingTest::outOfMemory;
        l.stream().poll();
        endsWithoutALoss(l);
    }
}
