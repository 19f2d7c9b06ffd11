/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class FloodBudgetTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final long START = Long.MAX_VALUE - SECOND / 2; // the clock may wrap

    private final FloodBudget budget = new FloodBudget();

    @Test
    void shouldBeSpentByMoreMessagesInASecond() {
        assertFalse(budget.isSpent(1_000_000, START), "nothing is known of the time that these took");
        assertFalse(new FloodBudget().isSpent(1_000_000, 0), "whatever the clock says");
        assertFalse(budget.isSpent(1_000_000 + FloodBudget.MESSAGES, START + 1));
        assertTrue(budget.isSpent(1_000_001 + FloodBudget.MESSAGES, START + SECOND - 1));
    }

    /** A connection lives for months, and each update of credits may be such a message. */
    @Test
    void shouldLastForeverForAPeerThatSendsFewerInASecond() {
        long now = START;
        for (long messages = 0; messages < 100L * FloodBudget.MESSAGES; messages += FloodBudget.MESSAGES) {
            assertFalse(budget.isSpent(messages, now));
            assertFalse(budget.isSpent(messages + FloodBudget.MESSAGES, now + SECOND - 1));
            now += SECOND;
        }
    }

    @Test
    void shouldSeldomLookAtTheClock() {
        long messages = 0;
        for (int i = 0; i < 3; i++) {
            assertFalse(budget.isDue(messages + 255));
            messages += 256;
            assertTrue(budget.isDue(messages));
            assertFalse(budget.isSpent(messages, START));
        }
    }
}
