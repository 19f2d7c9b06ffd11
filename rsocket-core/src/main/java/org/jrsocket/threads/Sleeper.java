/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.threads;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.util.concurrent.locks.LockSupport;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.EventFd;
import org.jrsocket.os.Fds;

/**
 * Lets one thread sleep until its stream has something for it. A platform thread sleeps in the kernel on the completion
 * channel and an eventfd of its own. A virtual thread parks, and the service thread watches the channel for it, because
 * blocking in native code would pin its carrier. Platform sleepers are pooled: their eventfd outlives the sleep, so a
 * late {@link #wake} can only cause a spurious wake-up of a later user.
 */
public final class Sleeper {

    /** How long a platform thread without an eventfd sleeps at a time. */
    private static final long SLICE_NANOS = 5_000_000;

    private final boolean virtual;
    private final EventFd wake; // null for a virtual thread, or if the process has no descriptor left
    private volatile Thread thread;
    private volatile boolean woken;

    /** Makes one for threads of the caller's kind, virtual or not. */
    Sleeper() throws ErrnoException {
        virtual = Threads.isVirtual();
        wake = virtual ? null : eventFd();
    }

    /** Returns null if there is no descriptor left: TCP needs none to wait, so a connection must not fail for it. */
    private static EventFd eventFd() throws ErrnoException {
        try {
            return new EventFd();
        } catch (ErrnoException e) {
            if (e.errno() == Errno.EMFILE || e.errno() == Errno.ENFILE) {
                return null;
            }
            throw e;
        }
    }

    /** Makes it the calling thread's. */
    void begin() {
        woken = false;
        thread = Thread.currentThread();
    }

    /** Makes it nobody's. */
    void end() {
        thread = null;
    }

    /** Returns whether it has a descriptor, and so is worth keeping for another thread. */
    boolean hasDescriptor() {
        return wake != null;
    }

    /** Closes the descriptor that it has. */
    void close() {
        wake.close();
    }

    public boolean isMine() {
        return thread == Thread.currentThread();
    }

    public boolean isVirtual() {
        return virtual;
    }

    /** Ends the sleep, or the next one if the thread is not asleep yet. May be called from any thread. */
    public void wake() {
        woken = true;
        if (wake != null) {
            wake.signal();
        } else if (virtual) {
            Thread t = thread;
            if (t != null) {
                LockSupport.unpark(t);
            }
        }
    }

    /**
     * Sleeps until woken, until {@code fd} is readable (platform threads), or until the time is over. May also return
     * for no reason.
     *
     * @param nanos how long to sleep; negative means without limit
     * @throws InterruptedIOException if a virtual thread is interrupted; its interrupt status stays set
     * @throws SocketException if the kernel refuses to wait
     */
    public void sleep(int fd, long nanos) throws IOException {
        if (!virtual) {
            if (!woken) {
                int readable = wake != null
                        ? Fds.waitReadable(fd, wake.fd(), nanos)
                        : Fds.waitReadable(fd, -1, nanos < 0 ? SLICE_NANOS : Math.min(nanos, SLICE_NANOS));
                if (readable < 0) {
                    throw new SocketException(
                            "waiting for the events of an RDMA connection failed: " + Errno.describe(-readable));
                }
                if ((readable & 2) != 0) {
                    wake.clear();
                }
            }
            woken = false; // the signal may still be on its way; the next sleep then ends at once, and clears it
            return;
        }
        checkInterrupt();
        if (!woken) {
            if (nanos < 0) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, nanos);
            }
        }
        woken = false;
        checkInterrupt();
    }

    /** Throws if a virtual thread is interrupted; its interrupt status stays set. */
    public void checkInterrupt() throws InterruptedIOException {
        if (virtual && Thread.currentThread().isInterrupted()) {
            throw new InterruptedIOException("interrupted while waiting");
        }
    }
}
