/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.os;

/** How the kernel schedules threads. */
public final class Scheduling {

    private Scheduling() {}

    /**
     * From now on the calling thread, which must be a platform thread, works in the background (SCHED_BATCH): it gets
     * its share of the processors as before, but when it wakes it takes none from a thread that runs. A thread with a
     * policy of its own keeps that.
     *
     * @return 0 or a negative errno: a sandbox may forbid the call
     */
    public static int background() {
        NativeLibrary.OS.load();
        return OsNative.background();
    }
}
