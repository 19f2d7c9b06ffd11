/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class ServiceLoopsTest {

    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(50);

    private ServiceThread first;
    private ServiceLoops loops;

    @BeforeEach
    void start() throws IOException {
        first = new ServiceThread("service-of-a-test", Threads::daemon);
        loops = new ServiceLoops(first, 3);
    }

    @AfterEach
    void stop() {
        assertTrue(loops.stop(PATIENCE));
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "2, 1", "15, 1", "16, 2", "64, 8", "256, 8"})
    void shouldBeOneForEveryEightProcessorsUpToEight(int processors, int wanted) {
        assertEquals(wanted, ServiceLoops.warranted(processors));
    }

    @Test
    void shouldTakeTurns() {
        Set<ServiceThread> three = new HashSet<>();
        for (int i = 0; i < 3; i++) {
            three.add(loops.next());
        }
        assertEquals(3, three.size());
        assertTrue(three.contains(first));
        assertSame(first, loops.first());
        for (int i = 0; i < 3; i++) {
            assertTrue(three.contains(loops.next()));
        }
    }

    @Test
    void shouldKnowEachOfItsThreads() throws Exception {
        assertFalse(loops.isCurrent());
        for (int i = 0; i < 3; i++) {
            CompletableFuture<Boolean> isCurrent = new CompletableFuture<>();
            loops.next().execute(() -> isCurrent.complete(loops.isCurrent()));
            assertTrue(isCurrent.get(50, TimeUnit.SECONDS));
        }
    }

    @Test
    void shouldTellHowLongAnyOfItsThreadsHasBeenHanging() {
        CountDownLatch goOn = new CountDownLatch(1);
        for (int i = 0; i < 2; i++) {
            loops.next();
        }
        loops.next().execute(() -> Threads.await(goOn, PATIENCE));
        while (loops.hungNanos() == 0) {
            Thread.onSpinWait();
        }
        goOn.countDown();
        while (loops.hungNanos() != 0) {
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldEndTheOthersForTheOwnerOfTheFirst() throws Exception {
        loops.endOthers();
        assertFalse(first.hasEnded());
        int ended = 0;
        for (int i = 0; i < 3; i++) {
            ended += loops.next().hasEnded() ? 1 : 0;
        }
        assertEquals(2, ended);
    }
}
