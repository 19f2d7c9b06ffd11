/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket;

import java.util.Arrays;
import java.util.Set;

/** Waits for threads that wait. */
public final class Waiting {

    private static final Set<Thread.State> WAITS =
            Set.of(Thread.State.WAITING, Thread.State.TIMED_WAITING, Thread.State.BLOCKED);

    private Waiting() {}

    /** Returns when the thread is inside a method of that name of that class, where it waits, or soon will. */
    public static void inside(Thread thread, Class<?> type, String method) throws InterruptedException {
        while (Arrays.stream(thread.getStackTrace())
                .noneMatch(frame -> frame.getClassName().equals(type.getName())
                        && frame.getMethodName().equals(method))) {
            Thread.sleep(1);
        }
    }

    /** Returns when the thread waits in Java: for a monitor, or parked. */
    public static void parked(Thread thread) throws InterruptedException {
        while (!WAITS.contains(thread.getState())) {
            Thread.sleep(1);
        }
    }
}
