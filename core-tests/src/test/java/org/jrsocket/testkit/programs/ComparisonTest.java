/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.testkit.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Programs find a difference, leave out what does not matter, and forgive what is only late. */
@Timeout(120)
class ComparisonTest {

    private static final int CALLS = 30;

    /** A counter; one that is wrong forgets an addition that follows a removal. */
    private static final class Counter extends World {
        final boolean wrong;
        final CountDownLatch closed = new CountDownLatch(1);
        int count;
        boolean removed;
        long delayMillis;

        Counter(boolean wrong) {
            this.wrong = wrong;
        }

        int add() {
            count += wrong && removed ? 0 : 1;
            return count;
        }

        int remove() {
            removed = true;
            return --count;
        }

        String outcomeOfAWait() throws InterruptedException {
            return mayWait(() -> {
                closed.await();
                return "closed";
            });
        }

        String outcomeOfADelay() throws InterruptedException {
            return mayWait(() -> {
                TimeUnit.MILLISECONDS.sleep(delayMillis);
                return "done";
            });
        }

        @Override
        public void close() {
            closed.countDown();
        }
    }

    private static RandomPrograms<Counter> programs(RandomPrograms.Opening<Counter> compared) {
        return new RandomPrograms<>(() -> new Counter(false), compared)
                .with(3, "add", (counter, chance) -> "" + counter.add())
                .with(1, "remove", (counter, chance) -> "" + counter.remove())
                .with(2, "look", (counter, chance) -> "" + (counter.count > 1000))
                .with(1, "fail", (counter, chance) -> {
                    throw new IllegalStateException("as meant");
                });
    }

    @Test
    void shouldPassWhatIsTheSame() throws Exception {
        for (int seed = 0; seed < 20; seed++) {
            programs(() -> new Counter(false))
                    .with(1, "wait", (counter, chance) -> counter.outcomeOfAWait())
                    .compare(seed, CALLS);
        }
    }

    @Test
    void shouldFindADifferenceAndLeaveOutWhatDoesNotMatter() {
        AssertionError found = assertThrows(AssertionError.class, () -> {
            for (int seed = 0; seed < 20; seed++) {
                programs(() -> new Counter(true)).compare(seed, CALLS);
            }
        });
        assertEquals(
                "remove: -1|! add: 0|! but add: -1|in the end:",
                found.getMessage()
                        .lines()
                        .skip(1) // the seed
                        .map(String::strip)
                        .reduce((a, b) -> a + "|" + b)
                        .orElseThrow());
    }

    @Test
    void shouldForgiveACallThatIsOnlyLate() throws Exception {
        RandomPrograms.Opening<Counter> late = () -> {
            Counter counter = new Counter(false);
            counter.delayMillis = 150;
            return counter;
        };
        programs(late)
                .with(1, "delay", (counter, chance) -> counter.outcomeOfADelay())
                .compare(7, 10);
    }
}
