/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.jrsocket.CountedClasses;
import org.jrsocket.endpoint.LackOfMemoryInPoolScenario;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each allocation of a connection's life fails once: nobody hangs, nothing is lost, others are served. */
@Tag("slow")
class LackOfMemoryTest {

    /** Fewer failures would mean that allocations are not counted. */
    private static final int LEAST = 150;

    @Test
    void shouldEndAConnectionAndLoseNothingWhereverMemoryIsLacking() throws Exception {
        try (CountedClasses classes =
                new CountedClasses(LackOfMemoryScenario.class, RdmaStream.class, LoopbackProvider.class)) {
            CountedClasses.Outcome outcome = classes.failEach();
            assertEquals(List.of(), outcome.wrong());
            assertTrue(outcome.failures() >= LEAST, outcome.failures() + " allocations have failed");
        }
    }

    @Test
    void shouldLoseNothingThatIsKeptForLaterConnections() throws Exception {
        try (CountedClasses classes =
                new CountedClasses(LackOfMemoryInPoolScenario.class, RdmaStream.class, LoopbackProvider.class)) {
            CountedClasses.Outcome outcome = classes.failEach();
            assertEquals(List.of(), outcome.wrong());
            assertTrue(outcome.failures() > 0, "no allocation has failed");
        }
    }

    @Test
    void shouldLeaveNobodyWaitingAtAListenerThatCloses() throws Exception {
        try (CountedClasses classes =
                new CountedClasses(LackOfMemoryInCloseScenario.class, RdmaStream.class, LoopbackProvider.class)) {
            CountedClasses.Outcome outcome = classes.failEach();
            assertEquals(List.of(), outcome.wrong());
            assertTrue(outcome.failures() > 0, "no allocation has failed");
        }
    }

    @Test
    void shouldLoseNoIdWhosePeerIsToBeTold() throws Exception {
        try (CountedClasses classes =
                new CountedClasses(LackOfMemoryInFarewellsScenario.class, RdmaStream.class, LoopbackProvider.class)) {
            CountedClasses.Outcome outcome = classes.failEach();
            assertEquals(List.of(), outcome.wrong());
            assertTrue(outcome.failures() > 0, "no allocation has failed");
        }
    }
}
