/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SpinBudgetTest {

    private static final long MAX = 160_000;

    private static long take(SpinBudget budget, long limit) {
        long nanos = budget.begin(limit);
        if (nanos > 0) {
            budget.end();
        }
        return nanos;
    }

    @Test
    void shouldBeginWithAllOfIt() {
        assertEquals(MAX, take(new SpinBudget(MAX), 0));
    }

    @Test
    void shouldShrinkWhileWaitsAreLongButNotToNothing() {
        SpinBudget budget = new SpinBudget(MAX);
        budget.waited(3 * MAX);
        assertEquals(MAX / 2, take(budget, 0));
        for (int i = 0; i < 20; i++) {
            budget.waited(1_000 * MAX);
        }
        assertEquals(MAX / 16, take(budget, 0));
    }

    @Test
    void shouldGrowAgainOnWaitsThatWereShortAlthoughTheySlept() {
        SpinBudget budget = new SpinBudget(MAX);
        for (int i = 0; i < 20; i++) {
            budget.waited(1_000 * MAX);
        }
        for (int i = 0; i < 4; i++) {
            budget.waited(MAX + MAX / 2); // two ends that both sleep: longer than any poll
        }
        assertEquals(MAX, take(budget, 0));
    }

    @Test
    void shouldNotPollBeyondTheTimeTheCallerHas() {
        assertEquals(1_000, take(new SpinBudget(MAX), 1_000));
    }

    @Test
    void shouldNeverPollWithATimeOfNothing() {
        SpinBudget budget = new SpinBudget(0);
        budget.waited(0);
        assertEquals(0, take(budget, 0));
    }

    @Test
    void shouldLetOnlyHalfOfTheCpusPollAtOnce() {
        List<SpinBudget> polling = new ArrayList<>();
        int most = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
        SpinBudget next = new SpinBudget(MAX);
        while (polling.size() <= most && next.begin(0) > 0) {
            polling.add(next);
            next = new SpinBudget(MAX);
        }
        assertTrue(polling.size() <= most, polling.size() + " poll at once");
        assertEquals(0, next.begin(0));
        polling.forEach(SpinBudget::end);
        assertEquals(MAX, take(next, 0));
    }
}
