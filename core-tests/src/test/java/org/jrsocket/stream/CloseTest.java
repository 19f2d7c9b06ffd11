/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.threads.ServiceThread;
import org.jrsocket.threads.ServiceThreads;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Test;

/** Who ends a close: the thread that asks for it where nothing is left to wait for, else the service thread. */
class CloseTest extends RawPeerTests {

    private final CountDownLatch busy = new CountDownLatch(1);

    /** A selector takes its own lock, and whoever has that may want the stream's. */
    @Test
    void shouldTellObserversOfACloseWithoutTheLockOfTheStream() throws Exception {
        Link l = link(Role.PASSIVE);
        StreamCore core = l.stream().core();
        AtomicInteger told = new AtomicInteger();
        AtomicBoolean held = new AtomicBoolean();
        l.stream().observe(() -> {
            told.incrementAndGet();
            held.compareAndSet(false, core.isHeld());
        });
        readerInside(core, true);
        l.stream().close();
        RawPeer.await(() -> told.get() > 2, () -> "nobody is told that a reader is still inside");
        readerInside(core, false);
        RawPeer.await(l.stream()::isFreed, () -> "not freed");
        assertFalse(held.get());
    }

    /** It may take long, as a virtual thread that is woken has to wait for a carrier, and there may be thousands. */
    @Test
    void shouldNotLookAgainAndAgainWhetherAReaderHasLeft() throws Exception {
        Link l = link(Role.PASSIVE);
        readerInside(l.stream().core(), true);
        l.stream().close();
        passTheServiceThread();
        RawPeer.await(() -> timersDueSoon() == 0, () -> "the service thread always has a look to come");
        readerInside(l.stream().core(), false);
        passTheServiceThread();
        assertTrue(l.stream().awaitDrained(1), "it is told that the reader has left");
    }

    private int timersDueSoon() {
        CompletableFuture<Integer> count = new CompletableFuture<>();
        ServiceThread service = transport.services().service;
        service.execute(() -> count.complete(ServiceThreads.timersWithin(service, TimeUnit.MILLISECONDS.toNanos(50))));
        return count.join();
    }

    /** As one that copies. */
    private static void readerInside(StreamCore core, boolean inside) {
        core.enter();
        try {
            core.readerInside = inside;
        } finally {
            core.exit();
        }
    }

    @Test
    void shouldEndByItselfWhenEverythingIsAcknowledged() throws Exception {
        Link l = link(Role.PASSIVE);
        l.stream().write(new byte[10], 0, 10, PATIENCE);
        keepTheServiceThreadBusy(busy);
        l.stream().close();
        assertTrue(l.stream().awaitDrained(1));
        RawPeer.await(() -> transport.liveStreams() == 0, () -> "not freed");
        assertTrue(l.peer().has(Imm.ctrl(Imm.CTRL_DISCONNECT)));
    }

    @Test
    void shouldEndAResetByItself() throws Exception {
        Link l = link(Role.ACTIVE, RawPeer.Spec.DEFAULT.half(100).ours());
        l.stream().write(new byte[1000], 0, 1000, PATIENCE); // of which the peer has room for 100
        keepTheServiceThreadBusy(busy);
        l.stream().abort();
        RawPeer.await(() -> transport.liveStreams() == 0, () -> "not freed");
        assertTrue(l.peer().has(Imm.ctrl(Imm.CTRL_RESET)));
    }

    @Test
    void shouldLeaveToTheServiceThreadWhatThePeerHasNoRoomForYet() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(100));
        l.stream().write(new byte[150], 0, 150, PATIENCE);
        keepTheServiceThreadBusy(busy);
        l.stream().close();
        assertFalse(l.stream().awaitDrained(1));
        busy.countDown();
        l.peer().grantRing(100, 100);
        assertTrue(l.stream().awaitDrained(PATIENCE));
        RawPeer.await(() -> transport.liveStreams() == 0, () -> "not freed");
    }

    /** All that an idle connection has room for: a server's application may be busy, or not have accepted it yet. */
    @Test
    void shouldDeliverTwoSlabsToAnEndWhereNobodyPolls() throws Exception {
        StreamPair p = later(StreamPair.connect(transport, HERE, StreamConfig.DEFAULT));
        int room = 16 * 1024;
        p.client.write(bytes(room), 0, room, PATIENCE);
        p.client.close();
        assertTrue(p.client.awaitDrained(PATIENCE));
        assertArrayEquals(bytes(room), read(p.server, room));
    }

    /** It has told nobody that it began: no memory was left for that. */
    @Test
    void shouldEndACloseThatNobodyGoesOnWith() throws Exception {
        StreamPair p = later(StreamPair.connect(transport, HERE, CONFIG));
        StreamDriver core = p.client.core();
        core.enter();
        try {
            core.closed = true;
            core.out.close(false, false);
        } finally {
            core.exit();
        }
        transport.service().execute(core.sweep::look);
        RawPeer.await(p.client::isFreed, () -> "not freed");
        assertEquals(-1, p.server.read(new byte[1], 0, 1, PATIENCE));
    }

    /** With SO_LINGER, as a logger's appender may close a connection when the service thread has something to log. */
    @Test
    void shouldNotHaveTheServiceThreadWaitForWhatItHasToSend() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(100));
        l.stream().write(new byte[150], 0, 150, PATIENCE);
        l.stream().close();
        CompletableFuture<Boolean> drained = new CompletableFuture<>();
        transport.service().execute(() -> drained.complete(l.stream().awaitDrained(TimeUnit.HOURS.toNanos(1))));
        assertFalse(drained.get(60, TimeUnit.SECONDS));
        l.peer().grantRing(100, 100);
        assertTrue(l.stream().awaitDrained(PATIENCE));
    }

    @Test
    void shouldSendTheEndBeforeTheResetThatUnreadDataMakesOfAClose() throws Exception {
        Link l = link(Role.ACTIVE, RawPeer.Spec.DEFAULT.ours());
        l.peer().data(bytes(1));
        l.stream().closeAfterEnd();
        RawPeer.await(() -> transport.liveStreams() == 0, () -> "not freed");
        assertTrue(l.peer().has(Imm.ctrl(Imm.CTRL_SHUTDOWN)));
        assertTrue(l.peer().has(Imm.ctrl(Imm.CTRL_RESET)));
    }

    @Test
    void shouldSendTheResetAloneIfNobodyAskedForTheEnd() throws Exception {
        Link l = link(Role.ACTIVE, RawPeer.Spec.DEFAULT.ours());
        l.peer().data(bytes(1));
        l.stream().close();
        RawPeer.await(() -> transport.liveStreams() == 0, () -> "not freed");
        assertFalse(l.peer().has(Imm.ctrl(Imm.CTRL_SHUTDOWN)));
        assertTrue(l.peer().has(Imm.ctrl(Imm.CTRL_RESET)));
    }

    /** What was taken from a blocked writer is delivered, although its peer begins to read only after the close. */
    @Test
    void shouldDeliverWhatWasTakenFromAWriterThatWasBlocked() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(1000), CONFIG.withBuffers(4096, 8192));
        Future<Void> writer = background(() -> {
            l.stream().write(bytes(100_000), 0, 100_000, 0);
            return null;
        });
        RawPeer.await(() -> l.stream().bytesWritten() == 4096, () -> "the ring is not full");
        l.stream().close();
        assertEquals(
                "Socket closed",
                assertThrows(ExecutionException.class, () -> get(writer))
                        .getCause()
                        .getMessage());
        for (int i = 1; i <= 4; i++) {
            l.peer().grantRing(i % 2 * 1000, 1000);
            int bytes = Math.min((i + 1) * 1000, 4096);
            RawPeer.await(
                    () -> l.peer().dataBytes() == bytes,
                    () -> "only " + l.peer().dataBytes() + " bytes came");
        }
        assertTrue(l.stream().awaitDrained(PATIENCE));
        assertTrue(l.peer().has(Imm.ctrl(Imm.CTRL_DISCONNECT)));
        assertArrayEquals(bytes(4096), RawPeer.bytesOf(l.peer().messages()));
    }

    @Test
    void shouldEndAReadBeforeItFreesWhatIsRead() throws Exception {
        Link l = link(Role.PASSIVE);
        CountDownLatch first = new CountDownLatch(1);
        Future<Integer> reader = background(() -> {
            l.stream().read(new byte[1], 0, 1, PATIENCE);
            first.countDown();
            return l.stream().read(new byte[1], 0, 1, PATIENCE);
        });
        l.peer().data(new byte[1]);
        first.await();
        l.stream().close();
        assertEquals(
                "Socket closed",
                assertThrows(ExecutionException.class, () -> get(reader))
                        .getCause()
                        .getMessage());
        RawPeer.await(() -> transport.liveStreams() == 0, () -> "not freed");
    }
}
