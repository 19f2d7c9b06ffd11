/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.SocketException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrsocket.threads.ServiceThreads;
import org.jrsocket.verbs.SendBatch;
import org.junit.jupiter.api.Test;

/** Probes for a dead peer hold nothing once they are off, though the next would have been due in two hours. */
class KeepAliveTest extends RawPeerTests {

    private static final long TWO_HOURS = TimeUnit.HOURS.toNanos(2);

    private int timers() throws Exception {
        CompletableFuture<Integer> count = new CompletableFuture<>();
        transport
                .service()
                .execute(() ->
                        count.complete(ServiceThreads.timersLaterThan(transport.services().service, TWO_HOURS / 2)));
        return count.get(30, TimeUnit.SECONDS);
    }

    /** The peer goes too, so that nothing but a timer could hold the stream. */
    private WeakReference<RdmaStream> closedStream() throws IOException {
        Link l = link(Role.PASSIVE);
        l.stream().keepAlive(TWO_HOURS);
        l.stream().close();
        RawPeer.await(() -> transport.liveStreams() == 0, () -> "not freed");
        l.peer().close();
        peers.clear();
        return new WeakReference<>(l.stream());
    }

    @Test
    void shouldNotHoldAClosedStream() throws Exception {
        WeakReference<RdmaStream> closed = closedStream();
        transport.freeIdle();
        RawPeer.await(
                () -> {
                    System.gc();
                    return closed.get() == null;
                },
                () -> "something holds a closed stream");
        assertNull(closed.get());
    }

    @Test
    void shouldLeaveNoTimerOfAStreamThatIsClosedOrFailed() throws Exception {
        Link closed = link(Role.PASSIVE);
        Link failed = link(Role.PASSIVE);
        int before = timers();
        closed.stream().keepAlive(TWO_HOURS);
        failed.stream().keepAlive(TWO_HOURS);
        assertEquals(before + 2, timers());
        verbs.faults().breakQp(failed.peer().qp());
        failed.peer().close();
        assertThrows(SocketException.class, () -> failed.stream().read(new byte[1], 0, 1, PATIENCE));
        closed.stream().keepAlive(TWO_HOURS); // twice on is one timer
        assertEquals(before + 1, timers());
        closed.stream().close();
        closed.stream().keepAlive(TWO_HOURS); // and too late is none
        assertEquals(before, timers());
    }

    @Test
    void shouldLeaveNoTimerWhenSwitchedOff() throws Exception {
        Link l = link(Role.PASSIVE);
        int before = timers();
        for (int i = 0; i < 100; i++) {
            l.stream().keepAlive(TWO_HOURS);
            l.stream().keepAlive(0);
        }
        assertEquals(before, timers());
    }

    @Test
    void shouldProbeAgainAndAgain() throws Exception {
        Link l = link(Role.PASSIVE);
        l.stream().keepAlive(1_000_000);
        RawPeer.await(
                () -> l.peer().messages().stream()
                                .filter(m -> m.opcode() == SendBatch.RDMA_WRITE && m.length() == 0)
                                .count()
                        >= 3,
                () -> "no probes");
    }
}
