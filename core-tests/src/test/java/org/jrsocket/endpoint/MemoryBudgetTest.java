/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** What {@code memory.registered} allows, to the byte. */
class MemoryBudgetTest {

    private final MemoryBudget budget = new MemoryBudget();

    @Test
    void shouldGiveAllOfItAndNotAByteMore() {
        budget.limit(1000);
        assertTrue(budget.take(600));
        assertFalse(budget.take(401));
        assertEquals(600, budget.used());
        assertTrue(budget.take(400));
        assertFalse(budget.take(1));
        budget.giveBack(1);
        assertTrue(budget.take(1));
    }

    /** The last quarter is left to those who cannot do without. */
    @Test
    void shouldLendThreeQuartersOfItAndNotAByteMore() {
        budget.limit(1000);
        assertFalse(budget.takeForLending(751));
        assertTrue(budget.takeForLending(750));
        assertFalse(budget.takeForLending(1));
        assertTrue(budget.take(250));
        assertFalse(budget.take(1));
    }

    /** Else nothing would ever be kept for later where thousands of connections are refused memory. */
    @Test
    void shouldHaveWhatIsKeptFreedOnceForManyRefusals() {
        int[] freed = new int[1];
        budget.onShortage(() -> freed[0]++);
        long begin = System.nanoTime();
        for (int i = 0; i < 1000; i++) {
            budget.reportShortage();
        }
        long seconds = (System.nanoTime() - begin) / 1_000_000_000L;
        assertTrue(freed[0] >= 1 && freed[0] <= 1 + seconds, () -> freed[0] + " times in " + seconds + " s");
        assertEquals(1000, budget.refusals());
    }

    @Test
    void shouldTakeNothingBackFromThoseWhoHaveMoreThanALaterBound() {
        assertTrue(budget.take(600));
        budget.limit(500);
        assertEquals(600, budget.used());
        assertFalse(budget.take(1));
        budget.giveBack(200);
        assertTrue(budget.take(100));
        assertFalse(budget.take(1));
    }
}
