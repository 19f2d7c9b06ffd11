/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.Mockito.mock;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrsocket.os.NativeSchedulingTest;
import org.junit.jupiter.api.Test;

class ReapersTest {

    /** A reaper that is woken takes no processor from the thread that closes, or from its next connection. */
    @Test
    void shouldFreeInTheBackground() throws Exception {
        Reapers reapers = new Reapers(mock(ServiceLoop.class));
        CompletableFuture<Integer> policy = new CompletableFuture<>();
        reapers.reap(() -> policy.complete(NativeSchedulingTest.policy()));
        assertEquals(NativeSchedulingTest.BATCH, policy.get(30, TimeUnit.SECONDS));
        reapers.end();
    }
}
