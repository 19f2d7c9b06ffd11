/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a JVM that exits waits for. A device loses what the peer's has not acknowledged when the process is gone. */
class ExitTest extends RawPeerTests {

    /** Whether or not the last of the requests asked for a completion. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldWaitForTheAcknowledgementOfWhatAnOpenSocketHasSent(int writes) throws Exception {
        Link l = link(Role.PASSIVE);
        assertFalse(l.stream().isDelivering(0));
        verbs.faults().holdAcks(true);
        for (int i = 0; i < writes; i++) {
            l.stream().write(new byte[10], 0, 10, PATIENCE);
        }
        RawPeer.await(() -> l.peer().dataBytes() == 10L * writes, () -> "not sent");
        assertTrue(l.stream().isDelivering(10L * writes), "not acknowledged, and nobody cares");
        assertTrue(l.stream().isDelivering(10L * writes));
        verbs.faults().holdAcks(false);
        RawPeer.await(() -> !l.stream().isDelivering(10L * writes), () -> "never known to be delivered");
    }

    /** Other threads may go on: a server that is busy must not keep its JVM. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldNotWaitForWhatIsWrittenLater(int writes) throws Exception {
        Link l = link(Role.PASSIVE);
        l.stream().write(new byte[10], 0, 10, PATIENCE);
        RawPeer.await(() -> !l.stream().isDelivering(10), () -> "never known to be delivered");
        verbs.faults().holdAcks(true);
        for (int i = 0; i < writes; i++) {
            l.stream().write(new byte[10], 0, 10, PATIENCE);
        }
        assertFalse(l.stream().isDelivering(10));
        verbs.faults().holdAcks(false);
    }

    /** When it goes on, what is left has had no time at all. */
    @Test
    void shouldGoOnWaitingAfterTheProcessStoodStill() {
        long limit = TimeUnit.SECONDS.toNanos(1);
        AtomicInteger looks = new AtomicInteger();
        OpenStreams.awaitEnd(
                () -> {
                    if (looks.getAndIncrement() == 0) {
                        long over = System.nanoTime() + limit;
                        RawPeer.await(() -> System.nanoTime() - over > 0, () -> "time stands still");
                    }
                    return looks.get() < 5;
                },
                limit);
        assertEquals(5, looks.get());
    }
}
