/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When the next turn of a keep-alive comes, and whether it sends a probe. */
class KeepAliveTurnsTest {

    private static final long TWO_HOURS = TimeUnit.HOURS.toNanos(2);
    private static final long FIVE_SECONDS = TimeUnit.SECONDS.toNanos(5);

    private final ServiceLoop service = mock(ServiceLoop.class);
    private final ArrayDeque<Runnable> due = new ArrayDeque<>();
    private final List<Long> times = new ArrayList<>();
    private final List<Boolean> sent = new ArrayList<>();
    private boolean unanswered;
    private final KeepAlive keepAlive = new KeepAlive(service, send -> {
        sent.add(send);
        return unanswered;
    });

    @BeforeEach
    void takeTimers() {
        when(service.schedule(any(), anyLong())).thenAnswer(call -> {
            due.add(call.getArgument(0));
            times.add(call.getArgument(1));
            return mock(ServiceLoop.Timer.class);
        });
    }

    private void turn(boolean nothingComes) {
        unanswered = nothingComes;
        due.remove().run();
    }

    @Test
    void shouldLookSoonWhatBecameOfARareProbe() {
        keepAlive.every(TWO_HOURS);
        turn(true);
        turn(true);
        turn(false);
        turn(false);
        assertEquals(List.of(true, false, false, true), sent);
        assertEquals(TWO_HOURS, times.get(0));
        assertTrue(times.get(1) < TimeUnit.MINUTES.toNanos(1) && times.get(2).equals(times.get(1)), times::toString);
        assertEquals(List.of(TWO_HOURS, TWO_HOURS), times.subList(3, 5));
    }

    @Test
    void shouldSendFrequentProbesAllTheSame() {
        keepAlive.every(FIVE_SECONDS);
        turn(true);
        turn(true);
        turn(false);
        assertEquals(List.of(true, true, true), sent);
        assertEquals(List.of(FIVE_SECONDS, FIVE_SECONDS, FIVE_SECONDS, FIVE_SECONDS), times);
    }

    @Test
    void shouldHaveNoTurnMoreOnceAProbeHasEndedIt() {
        KeepAlive[] ends = new KeepAlive[1];
        ends[0] = new KeepAlive(service, send -> {
            ends[0].end();
            return false;
        });
        ends[0].every(FIVE_SECONDS);
        turn(false);
        assertEquals(List.of(FIVE_SECONDS), times);
        assertTrue(due.isEmpty());
    }

    @Test
    void shouldSendAgainAfterAChangeOfTheInterval() {
        keepAlive.every(TWO_HOURS);
        turn(true);
        keepAlive.every(FIVE_SECONDS);
        due.removeFirst(); // cancelled
        turn(false);
        assertEquals(List.of(true, true), sent);
    }
}
