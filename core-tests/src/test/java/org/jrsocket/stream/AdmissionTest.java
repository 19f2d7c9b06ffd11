/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import org.jrsocket.stream.Admission.Limits;
import org.jrsocket.stream.Admission.Request;
import org.jrsocket.verbs.Device;
import org.junit.jupiter.api.Test;

/** Who begins, who waits and who is turned away. A place that was not given back would keep its source out for good. */
class AdmissionTest {

    private static final long HELD_NANOS = 100;

    private final Admission admission = new Admission(new Limits(3, 2, 4, 2, 0, 0, HELD_NANOS));
    private final InetAddress one = address(1);
    private final InetAddress other = address(2);

    private static InetAddress address(int last) {
        try {
            return InetAddress.getByAddress(new byte[] {10, 0, 0, (byte) last});
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private static Request from(InetAddress source, long since) {
        return new Request(null, null, null, source, since);
    }

    private void opened(InetAddress source) {
        Request request = from(source, 0);
        admission.opened(request);
        admission.made(request);
    }

    @Test
    void shouldLetNoSourceBeginMoreThanItsShareAndNobodyMoreThanAll() {
        opened(one);
        opened(one);
        assertFalse(admission.mayOpen(from(one, 0)));
        assertTrue(admission.mayOpen(from(other, 0)));
        opened(other);
        assertFalse(admission.mayOpen(from(other, 0)));
        assertFalse(admission.mayOpen(from(address(3), 0)));
        admission.over(from(one, 0));
        assertTrue(admission.mayOpen(from(one, 0)));
        assertTrue(admission.mayOpen(from(address(3), 0)));
    }

    /** One that hangs would otherwise take all places. */
    @Test
    void shouldLetADeviceBeAtWorkForNoMoreThanAQuarter() {
        Admission admitting = new Admission(new Limits(8, 8, 4, 4, 0, 0, HELD_NANOS));
        Device hangs = mock(Device.class);
        Device works = mock(Device.class);
        Request first = new Request(null, hangs, null, one, 0);
        admitting.opened(first);
        admitting.opened(new Request(null, hangs, null, other, 0));
        Request waits = new Request(null, hangs, null, one, 0);
        assertFalse(admitting.mayOpen(waits));
        assertTrue(admitting.mayOpen(new Request(null, works, null, one, 0)));
        assertTrue(admitting.hold(waits));
        assertNull(admitting.next());
        assertFalse(admitting.wantsPlace(), "a handshake that ends would not help");
        admitting.made(first);
        assertSame(waits, admitting.next());
    }

    /** A source that is slow with some of its requests must not get more places for each one that ends. */
    @Test
    void shouldGiveBackOnePlaceAtATime() {
        opened(one);
        opened(one);
        admission.over(from(one, 0));
        assertTrue(admission.mayOpen(from(one, 0)));
        opened(one);
        assertFalse(admission.mayOpen(from(one, 0)));

        Request first = from(other, 0);
        assertTrue(admission.hold(first));
        assertTrue(admission.hold(from(other, 0)));
        assertSame(first, admission.next());
        assertTrue(admission.hold(from(other, 0)));
        assertFalse(admission.hold(from(other, 0)));
    }

    @Test
    void shouldTurnAwayWhatIsMoreThanASourcesShareOrThanAll() {
        assertTrue(admission.hold(from(one, 0)));
        assertTrue(admission.hold(from(one, 0)));
        assertFalse(admission.hold(from(one, 0)));
        assertTrue(admission.hold(from(other, 0)));
        assertTrue(admission.hold(from(address(3), 0)));
        assertFalse(admission.hold(from(address(4), 0)));
        assertEquals(4, admission.held());
    }

    @Test
    void shouldGiveBackThePlacesOfRequestsWhoseTurnItIs() {
        for (int round = 0; round < 5; round++) {
            Request first = from(one, 0);
            Request second = from(one, 0);
            assertTrue(admission.hold(first), "round " + round);
            assertTrue(admission.hold(second), "round " + round);
            assertSame(first, admission.next());
            assertSame(second, admission.next());
            assertNull(admission.next());
        }
    }

    @Test
    void shouldGiveBackThePlacesOfRequestsThatWaitedTooLong() {
        for (long now = 0; now < 5 * HELD_NANOS; now += HELD_NANOS) {
            Request early = from(one, now);
            Request late = from(one, now + 1);
            assertTrue(admission.hold(early), "at " + now);
            assertTrue(admission.hold(late), "at " + now);
            assertNull(admission.nextExpired(now + HELD_NANOS - 1));
            assertSame(early, admission.nextExpired(now + HELD_NANOS));
            assertNull(admission.nextExpired(now + HELD_NANOS));
            assertSame(late, admission.nextExpired(now + HELD_NANOS + 1));
        }
        assertEquals(0, admission.held());
    }

    @Test
    void shouldGiveBackThePlacesOfAllWhoAreSentAwayAtTheClose() {
        for (int round = 0; round < 2; round++) {
            Request first = from(one, 0);
            Request second = from(one, 0);
            assertTrue(admission.hold(first));
            assertTrue(admission.hold(second));
            assertEquals(List.of(first, second), admission.takeHeld());
            assertEquals(0, admission.held());
        }
    }

    @Test
    void shouldPassOverASourceThatHasItsShare() {
        opened(one);
        opened(one);
        Request waits = from(one, 0);
        Request goes = from(other, 0);
        assertTrue(admission.hold(waits));
        assertTrue(admission.hold(goes));
        assertTrue(admission.wantsPlace());
        assertSame(goes, admission.next());
        assertNull(admission.next());
        admission.over(from(one, 0));
        assertSame(waits, admission.next());
    }
}
