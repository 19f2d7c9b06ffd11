/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.os;

/**
 * A non-blocking {@code eventfd(2)}, which wakes a thread that sleeps in {@link Epoll} or {@link Fds}. Safe for use by
 * many threads until closed.
 */
public final class EventFd implements AutoCloseable {

    private final int fd;
    private boolean closed;

    /** @throws ErrnoException if the process has no descriptor left */
    public EventFd() throws ErrnoException {
        NativeLibrary.OS.load();
        fd = OsNative.eventFd();
        if (fd < 0) {
            throw new ErrnoException("eventfd", "", -fd);
        }
    }

    public int fd() {
        return fd;
    }

    /** Makes the descriptor readable. */
    public synchronized void signal() {
        if (!closed) {
            OsNative.eventFdWrite(fd);
        }
    }

    /** Makes it unreadable again. Returns whether it was readable. */
    public synchronized boolean clear() {
        return !closed && OsNative.eventFdRead(fd) > 0;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            OsNative.closeFd(fd);
        }
    }
}
