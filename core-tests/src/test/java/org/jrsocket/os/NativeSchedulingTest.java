/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.os;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

public class NativeSchedulingTest {

    private static final int OTHER = 0;
    /** SCHED_BATCH. */
    public static final int BATCH = 3;
    /** Of what follows the name in {@code /proc/[pid]/stat}, which begins with the third field: the 41st, policy. */
    private static final int POLICY = 41 - 3;

    @Test
    void shouldPutTheCallingThreadInTheBackgroundAndNoOther() {
        assertEquals(OTHER, policy());
        CompletableFuture<Integer> policy = new CompletableFuture<>();
        Thread thread = new Thread(() -> policy.complete(Scheduling.background() == 0 ? policy() : -1));
        thread.start();
        assertEquals(BATCH, policy.orTimeout(30, TimeUnit.SECONDS).join());
        assertEquals(OTHER, policy());
    }

    /** Of the calling thread. */
    public static int policy() {
        try {
            String stat = Files.readString(Path.of("/proc/thread-self/stat"));
            return Integer.parseInt(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[POLICY]);
        } catch (IOException e) {
            throw new CompletionException(e);
        }
    }
}
