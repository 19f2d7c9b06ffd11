/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.os;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * An {@code epoll(7)} set. One thread waits. It closes the set itself, or its wait has ended before another thread
 * does. Any thread may change the set at any time: a change after {@link #close} touches nothing, although the set's
 * number may be another descriptor's by then.
 */
public final class Epoll implements AutoCloseable {

    /** Readable. */
    public static final int IN = 0x001;
    /** Report once, then stay silent until {@link #modify} arms it again. */
    public static final int ONESHOT = 1 << 30;

    private static final int EVENT_SIZE = 16;

    private final int fd;
    private final int capacity;
    private final NativeMemory memory;
    private final ByteBuffer events;
    private boolean closed; // guarded by this

    /**
     * @param capacity how many events one wait reports at most
     * @throws ErrnoException if the process has no descriptor left
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

    /** Returns the set's own descriptor, which is readable while something in the set is. */
    public int fd() {
        return fd;
    }

    /**
     * Adds a descriptor.
     *
     * @param data what {@link #data} returns for this descriptor's events
     * @throws IOException if the set is closed, the descriptor is in it already, or the kernel has no memory
     */
    public synchronized void add(int target, int interest, long data) throws IOException {
        if (closed) {
            throw new IOException("the epoll set is closed");
        }
        check(OsNative.epollCtl(fd, 1, target, interest, data), "add", target);
    }

    /**
     * Changes interest and data, and arms a ONESHOT entry again. Does nothing if the set is closed.
     *
     * @throws IOException if the descriptor is not in the set
     */
    public synchronized void modify(int target, int interest, long data) throws IOException {
        if (!closed) {
            check(OsNative.epollCtl(fd, 3, target, interest, data), "modify", target);
        }
    }

    /** Removes the descriptor; harmless if it is not in the set, or the set is closed. */
    public synchronized void remove(int target) {
        if (!closed) {
            OsNative.epollCtl(fd, 2, target, 0, 0);
        }
    }

    /**
     * Waits ({@code epoll_pwait2}, or {@code epoll_wait} with the time rounded up to milliseconds on older kernels).
     *
     * @param nanos 0 does not wait, negative waits for ever
     * @return how many events there are; 0 also if a signal ended the wait
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

    /** Returns what {@link #add} or {@link #modify} was given for the descriptor of the index-th event. */
    public long data(int index) {
        return events.getLong(index * EVENT_SIZE + 8);
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
