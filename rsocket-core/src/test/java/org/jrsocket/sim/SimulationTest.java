/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import org.junit.jupiter.api.Test;

class SimulationTest {

    @Test
    void shouldHoldBetweenTwoOfOurs() {
        Simulate.steps(World.Kind.OURS, new Mistakes(), 1, 1_000_000);
    }
}
