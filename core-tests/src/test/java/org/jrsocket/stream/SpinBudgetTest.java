/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

class SpinBudgetTest {

    /** Crowded waits in a row after which polling is given up the first time: what half of the last waits comes to. */
    private static final int CROWDED_IN_A_ROW = 6;

    private static final long MAX = 160_000;

    private static long take(SpinBudget budget, long limit) {
        long nanos = budget.begin(limit);
        if (nanos > 0) {
            budget.end();
        }
        return nanos;
    }

    /** A container with one CPU, or a part of one, would be out of its share soon. */
    @Test
    void shouldLeaveHalfOfTheProcessorsToOthersAndTheOnlyOne() {
        assertEquals(0, SpinBudget.mostSpinners(1));
        assertEquals(1, SpinBudget.mostSpinners(2));
        assertEquals(1, SpinBudget.mostSpinners(3));
        assertEquals(64, SpinBudget.mostSpinners(128));
    }

    @Test
    void shouldBeginWithAllOfIt() {
        assertEquals(MAX, take(new SpinBudget(MAX), 0));
    }

    private static void waits(SpinBudget budget, int count, long nanos) {
        for (int i = 0; i < count; i++) {
            budget.waited(nanos);
        }
    }

    @Test
    void shouldGiveUpAfterAFewLongWaitsAndTryAgainLater() {
        SpinBudget budget = new SpinBudget(MAX);
        waits(budget, SpinBudget.LONG_IN_A_ROW - 1, 3 * MAX);
        assertEquals(MAX, take(budget, 0));
        waits(budget, 1, 3 * MAX);
        assertEquals(0, take(budget, 0));
        waits(budget, SpinBudget.FIRST_REST, 3 * MAX);
        assertEquals(MAX, take(budget, 0), "time for another try");
    }

    @Test
    void shouldRestTwiceAsLongAfterATryInVain() {
        SpinBudget budget = new SpinBudget(MAX);
        waits(budget, SpinBudget.LONG_IN_A_ROW + SpinBudget.FIRST_REST + SpinBudget.LONG_IN_A_ROW, 3 * MAX);
        waits(budget, 2 * SpinBudget.FIRST_REST - 1, 3 * MAX);
        assertEquals(0, take(budget, 0));
        waits(budget, 1, 3 * MAX);
        assertEquals(MAX, take(budget, 0));
    }

    @Test
    void shouldTryOftenEnoughForEver() {
        SpinBudget budget = new SpinBudget(MAX);
        waits(budget, 1_000_000, 3 * MAX);
        int resting = 0;
        while (take(budget, 0) == 0) {
            budget.waited(3 * MAX);
            resting++;
        }
        assertTrue(resting <= SpinBudget.LONGEST_REST, resting + " waits without a try");
    }

    @Test
    void shouldBeginAgainOnWaitsThatWereShortAlthoughTheySlept() {
        SpinBudget budget = new SpinBudget(MAX);
        waits(budget, SpinBudget.LONG_IN_A_ROW, 1_000 * MAX);
        waits(budget, SpinBudget.SHORT_IN_A_ROW, MAX + MAX / 2); // two ends that both sleep: longer than any poll
        assertEquals(MAX, take(budget, 0));
    }

    private static void crowdedWaits(SpinBudget budget, int count) {
        for (int i = 0; i < count; i++) {
            budget.passed(4_000_000);
            budget.waited(MAX);
        }
    }

    @Test
    void shouldNotBeginAgainSoonWhereOthersWantTheProcessor() {
        SpinBudget budget = new SpinBudget(MAX);
        for (int i = 1; i < CROWDED_IN_A_ROW; i++) {
            assertFalse(budget.passed(5_000));
            assertFalse(budget.passed(4_000_000), "as a hypervisor may do");
            budget.waited(MAX);
            assertEquals(MAX, take(budget, 0));
        }
        assertTrue(budget.passed(4_000_000));
        budget.waited(MAX);
        waits(budget, SpinBudget.FIRST_REST - 1, MAX / 2);
        assertEquals(0, take(budget, 0));
        waits(budget, 1, MAX / 2);
        assertEquals(MAX, take(budget, 0));
    }

    @Test
    void shouldGiveUpWhereMostWaitsLoseTheProcessorThoughNotAll() {
        SpinBudget budget = new SpinBudget(MAX);
        int polled = 0;
        for (int i = 0; i < 1_000; i++) {
            if (take(budget, 0) > 0) {
                polled++;
                if (i % 4 != 0) {
                    budget.passed(1_000_000);
                }
            }
            budget.waited(MAX);
        }
        assertTrue(polled < 100, polled + " of 1000 waits polled");
    }

    @Test
    void shouldNotMindLosingTheProcessorNowAndThen() {
        SpinBudget budget = new SpinBudget(MAX);
        for (int i = 0; i < 1_000; i++) {
            assertEquals(MAX, take(budget, 0));
            if (i % 5 == 0) {
                assertFalse(budget.passed(4_000_000));
            }
            budget.waited(MAX);
        }
    }

    /** How many of so many waits kept the processor; the others gave way once, for that long. */
    private static int holds(SpinBudget budget, int waits, long nanos) {
        int held = 0;
        for (int i = 0; i < waits; i++) {
            if (budget.mayGiveWay()) {
                assertEquals(MAX, take(budget, 0));
                assertFalse(budget.gaveWay(nanos));
            } else {
                assertEquals(SpinBudget.HOLD_NANOS, take(budget, 0));
                assertEquals(MAX, take(budget, MAX), "a wait with a limit");
                held++;
            }
            budget.waited(MAX);
        }
        return held;
    }

    @Test
    void shouldKeepItsProcessorOnceWhenItSharesIt() {
        SpinBudget budget = new SpinBudget(MAX, 2);
        assertEquals(0, holds(budget, SpinBudget.SHARED_IN_A_ROW, 200_000));
        assertEquals(1, holds(budget, 1 + SpinBudget.FIRST_REST, 200_000), "once, not again soon");
        assertEquals(1, holds(budget, 1, 200_000), "the other one is still there");
        holds(budget, 2 * SpinBudget.LONGEST_SHARE, 200_000);
        int held = holds(budget, 10 * SpinBudget.LONGEST_SHARE, 200_000);
        assertTrue(held == 9 || held == 10, held + " times, ever more seldom and then as often");
        holds(budget, SpinBudget.LONGEST_SHARE, 5_000);
        assertEquals(1, holds(budget, SpinBudget.SHARED_IN_A_ROW + 1, 200_000), "it had gone, and is back");
    }

    @Test
    void shouldNotKeepTheOnlyProcessorThereIs() {
        assertEquals(0, holds(new SpinBudget(MAX, 1), 1_000, 200_000));
    }

    private static <T> T inVirtualThread(Callable<T> body) throws Exception {
        FutureTask<T> task = new FutureTask<>(body);
        Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        return task.get(30, TimeUnit.SECONDS);
    }

    /** Its carrier has others to run. */
    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_21)
    @Test
    void shouldPollOnlyBrieflyInAVirtualThread() throws Exception {
        assertEquals(SpinBudget.VIRTUAL_NANOS, inVirtualThread(() -> take(new SpinBudget(MAX), 0)));
        assertEquals(1_000, inVirtualThread(() -> take(new SpinBudget(MAX), 1_000)));
        assertEquals(1_000, inVirtualThread(() -> take(new SpinBudget(1_000), 0)));
    }

    /** Even if the wait was over soon after the poll: perhaps because the poll was. */
    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_21)
    @Test
    void shouldGiveUpPollsOfAVirtualThreadThatAreInVain() throws Exception {
        SpinBudget budget = new SpinBudget(MAX);
        long polls = inVirtualThread(() -> {
            waits(budget, SpinBudget.LONG_IN_A_ROW + SpinBudget.FIRST_REST - 1, SpinBudget.VIRTUAL_NANOS + 1);
            return take(budget, 0);
        });
        assertEquals(0, polls);
    }

    @Test
    void shouldGiveWayWhereNobodyElseWantsTheProcessorOrOnlyNowAndThen() {
        SpinBudget budget = new SpinBudget(MAX, 2);
        assertEquals(0, holds(budget, 10_000, 5_000));
        for (int i = 0; i < 1_000; i++) {
            assertEquals(0, holds(budget, SpinBudget.SHARED_IN_A_ROW - 1, 200_000));
            assertEquals(0, holds(budget, 1, 5_000));
        }
    }

    @Test
    void shouldPollAsBeforeOnceTheOthersHaveGone() {
        SpinBudget budget = new SpinBudget(MAX);
        crowdedWaits(budget, 10_000);
        waits(budget, SpinBudget.LONGEST_REST + 2 * CROWDED_IN_A_ROW, MAX);
        crowdedWaits(budget, CROWDED_IN_A_ROW - 1);
        assertEquals(MAX, take(budget, 0), "forgiven and forgotten");
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
