/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.os;

import java.io.IOException;
import java.nio.ByteBuffer;

/** An {@code epoll(7)} set. One thread waits; any thread may change the set. */
public final class Epoll implements AutoCloseable {

    /** Readable. */
    public static final int IN = 0x001;
    /** Writable. */
    public static final int OUT = 0x004;
    /** Report once, then stay silent until {@link #modify} arms it again. */
    public static final int ONESHOT = 1 << 30;
    /** Report on change only. */
    public static final int EDGE = 1 << 31;

    private static final int EVENT_SIZE = 16;

    private final int fd;
    private final int capacity;
    private final NativeMemory memory;
    private final ByteBuffer events;
    private boolean closed;

    /**
     * @param capacity events reported by one wait at most
     * @throws ErrnoException when the process has no descriptor left
     */
    public Epoll(int capacity) throws ErrnoException {
        NativeLibrary.OS.load();
        this.capacity = capacity;
        this.memory = NativeMemory.allocate(capacity * EVENT_SIZE);
        this.events = memory.buffer();
        this.fd = OsNative.epollCreate();
        if (fd < 0) {
            memory.free();
            throw new ErrnoException("epoll_create1", "", -fd);
        }
    }

    /** The set's own descriptor, readable while something in it is. */
    public int fd() {
        return fd;
    }

    /** @param data what {@link #data} gives back for this descriptor's events */
    public void add(int target, int interest, long data) throws IOException {
        check(OsNative.epollCtl(fd, 1, target, interest, data), "add", target);
    }

    /** Changes interest and data; arms a ONESHOT entry again. */
    public void modify(int target, int interest, long data) throws IOException {
        check(OsNative.epollCtl(fd, 3, target, interest, data), "modify", target);
    }

    /** Removes the descriptor; harmless if it is not in the set. */
    public void remove(int target) {
        OsNative.epollCtl(fd, 2, target, 0, 0);
    }

    /**
     * Waits ({@code epoll_pwait2}, or {@code epoll_wait} with the time rounded up to milliseconds on older kernels).
     *
     * @param nanos 0 does not wait, negative waits for ever
     * @return how many events there are; 0 also when a signal ended the wait
     */
    public int await(long nanos) throws IOException {
        int n = OsNative.epollWait(fd, memory.address(), capacity, nanos);
        if (n < 0) {
            if (n == -Errno.EINTR) {
                return 0;
            }
            throw new ErrnoException("epoll_wait", "", -n);
        }
        return n;
    }

    public long data(int index) {
        return events.getLong(index * EVENT_SIZE + 8);
    }

    public int ready(int index) {
        return events.getInt(index * EVENT_SIZE);
    }

    private static void check(int rc, String op, int target) throws IOException {
        if (rc < 0) {
            throw new ErrnoException("epoll_ctl", op + " fd " + target, -rc);
        }
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            OsNative.closeFd(fd);
            memory.free();
        }
    }
}
