/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.jrsocket.Waiting;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** What limits mean: 0 is none, and one that is over already ends a wait before it begins. */
@Timeout(120)
class WaitLimitsTest extends RawPeerTests {

    @Test
    void shouldNotWaitWhenTheTimeIsOverAlready() throws Exception {
        Link l = link(Role.ACTIVE, RawPeer.Spec.DEFAULT.half(100).ours());
        RdmaStream stream = l.stream();
        assertFalse(stream.awaitReadable(-1));
        assertThrows(SocketTimeoutException.class, () -> stream.read(new byte[1], 0, 1, -1));
        stream.write(new byte[100], 0, 100, PATIENCE);
        assertTrue(stream.awaitWritable(-1), "what the peer has no room for waits here");
    }

    @Test
    void shouldGiveWhatIsThereAlthoughTheTimeIsOver() throws Exception {
        StreamPair pair = StreamPair.connect(transport, HERE, StreamConfig.DEFAULT);
        pair.client.write(bytes(10), 0, 10, PATIENCE);
        assertTrue(pair.server.awaitReadable(PATIENCE));
        assertEquals(10, pair.server.read(new byte[20], 0, 20, -1));
        pair.client.close();
        pair.server.close();
    }

    /** A thread with a limit shorter than its poll could not be interrupted otherwise. */
    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_21)
    @Test
    void shouldTellAVirtualThreadOfAnInterruptRatherThanThatItsTimeIsOver() throws Exception {
        Link l = link(Role.PASSIVE);
        FutureTask<Boolean> reader = new FutureTask<>(() -> {
            Thread.currentThread().interrupt();
            IOException e = assertThrows(IOException.class, () -> l.stream().read(new byte[1], 0, 1, 1));
            assertEquals(InterruptedIOException.class, e.getClass());
            return Thread.interrupted();
        });
        Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, reader);
        assertTrue(get(reader), "the interrupt status stays set");
    }

    @Test
    void shouldWaitForTheAcknowledgementWithoutALimit() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(100));
        l.stream().write(new byte[150], 0, 150, PATIENCE);
        l.stream().close();
        Thread[] waiting = new Thread[1];
        Future<Boolean> drained = background(() -> {
            waiting[0] = Thread.currentThread();
            return l.stream().awaitDrained(0);
        });
        while (waiting[0] == null) {
            Thread.sleep(1);
        }
        Waiting.parked(waiting[0]);
        l.peer().grantRing(100, 100);
        assertTrue(drained.get());
        assertTrue(l.peer().has(Imm.ctrl(Imm.CTRL_DISCONNECT)));
    }
}
