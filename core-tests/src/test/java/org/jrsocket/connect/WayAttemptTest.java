/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;

import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.Ways.Way;
import org.jrsocket.stream.PendingConnect;
import org.jrsocket.stream.PendingConnect.Answer;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.junit.jupiter.api.Test;

/** An attempt that waits for another one to ask: how long, and what it says of its failure. */
class WayAttemptTest {

    private static final InetSocketAddress PEER = new InetSocketAddress("10.0.0.1", 80);
    private static final long HOUR = TimeUnit.HOURS.toNanos(1);

    private final PeerMemory memory = new PeerMemory(HOUR, HOUR, HOUR, System::nanoTime);
    private final PendingConnect first = mock(PendingConnect.class);
    private final PendingConnect second = mock(PendingConnect.class);

    private WayAttempt attempt(long limit) {
        return new WayAttempt(new Way(null, memory), PEER, 1, limit, true, true);
    }

    private static RdmaConnectException why(Reason reason) {
        return new RdmaConnectException(reason, "as the test wants", null);
    }

    @Test
    void shouldNotBlameAHostThatAnsweredWhenTheCallersTimeWasUsedUpByWaiting() {
        WayAttempt asking = attempt(0);
        WayAttempt waiting = attempt(1);
        assertTrue(asking.mayBegin(first));
        assertFalse(waiting.mayBegin(second));
        asking.asked();
        asking.answered(Answer.OURS);
        memory.firstContacts().over(asking, null);
        verify(second).begin();
        assertEquals(TcpReason.TIMEOUT, waiting.reason(why(Reason.TIMEOUT)));
        assertEquals(TcpReason.UNREACHABLE, waiting.reason(why(Reason.UNREACHABLE)));
    }

    /** It would be counted as another silence. */
    @Test
    void shouldLeaveItToTheFirstToSayWhatItMet() {
        WayAttempt asking = attempt(0);
        WayAttempt waiting = attempt(0);
        assertTrue(asking.mayBegin(first));
        assertFalse(waiting.mayBegin(second));
        RdmaConnectException unresolved = why(Reason.UNRESOLVED);
        memory.firstContacts().over(asking, unresolved);
        verify(second).endWith(unresolved);
        assertEquals(TcpReason.UNRESOLVED, asking.reason(unresolved));
        assertEquals(TcpReason.TIMEOUT, waiting.reason(unresolved));
    }

    @Test
    void shouldSayThatOneThatHadItsTimeAloneFoundNoRoute() {
        WayAttempt alone = attempt(1);
        assertTrue(alone.mayBegin(first));
        assertEquals(TcpReason.UNRESOLVED, alone.reason(why(Reason.TIMEOUT)));
    }

    /** Not even when the service thread gets to it late: the host owes nothing any more then. */
    @Test
    void shouldHaveNoTimeLeftToWaitForAHostThatHasTurnedOutToBeSilent() {
        WayAttempt asking = attempt(0);
        WayAttempt waiting = attempt(0);
        assertTrue(asking.mayBegin(first));
        assertFalse(waiting.mayBegin(second));
        asking.asked();
        assertTrue(waiting.left() > 0);
        memory.unreachable(PEER); // which counts as a silence
        assertTrue(waiting.isOverdue());
    }

    @Test
    void shouldGiveASilentHostItsTimeWhereThePolicyWantsRdma() {
        memory.unreachable(PEER);
        WayAttempt oneOfTwo = new WayAttempt(new Way(null, memory), PEER, 1, 0, true, false);
        assertTrue(oneOfTwo.mayBegin(first));
        assertTrue(oneOfTwo.left() > 0);
    }
}
