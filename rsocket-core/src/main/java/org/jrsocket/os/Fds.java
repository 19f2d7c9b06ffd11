/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.os;

import java.io.File;

/**
 * Waits for descriptors, in threads that may block in the kernel (never a virtual thread: it would pin its carrier).
 */
public final class Fds {

    private Fds() {}

    /**
     * Waits until one of two descriptors is readable ({@code ppoll(2)}). A signal ends the wait early, as if the time
     * were over. Allocates nothing.
     *
     * @param nanos negative waits for ever
     * @return bit 0 for {@code fd1}, bit 1 for {@code fd2}, 0 when the time is over, or a negative errno
     */
    public static int waitReadable(int fd1, int fd2, long nanos) {
        return OsNative.pollReadable(fd1, fd2, nanos);
    }

    /**
     * Sets O_NONBLOCK.
     *
     * @return 0 or a negative errno
     */
    public static int nonBlocking(int fd) {
        return OsNative.nonBlocking(fd);
    }

    /** Returns the number of open descriptors of this process, for leak tests; -1 if /proc is absent. */
    public static int openCount() {
        String[] names = new File("/proc/self/fd").list();
        return names == null ? -1 : names.length;
    }
}
