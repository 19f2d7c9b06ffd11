/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** What the simulator is worth: bugs that are put back are found, and soon. */
class MistakesTest {

    /** Much less than a minute's. */
    private static final long MOST_STEPS = 10_000_000;

    @Test
    void shouldFindATailThatIsStranded() {
        find(new Mistakes.StrandedTail());
    }

    @Test
    void shouldFindACreditTooMany() {
        find(new Mistakes.CreditTooMany());
    }

    @Test
    void shouldFindAReceiveTooFew() {
        find(new Mistakes.ReceiveTooFew());
    }

    @Test
    void shouldFindASlabThatIsGrantedWhileLent() {
        find(new Mistakes.GrantedWhileLent());
    }

    @Test
    void shouldFindAnAcknowledgedOffsetThatIsTooEarly() {
        find(new Mistakes.AcknowledgedEarly());
    }

    private static void find(Mistakes mistake) {
        long steps = Simulate.stepsToFind(World.Kind.OURS, mistake, MOST_STEPS);
        assertTrue(steps > 0, () -> mistake.getClass().getSimpleName() + " is not found in " + MOST_STEPS + " steps");
        System.out.println("simulated " + mistake.getClass().getSimpleName() + ": found after " + steps + " steps");
    }
}
