/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.MemlockLimit;

/**
 * Limits the memory that a process registers with its devices for streams. A stream that is refused makes do with less.
 * Thread-safe.
 */
public final class MemoryBudget {

    /** Thrown when this limit refuses, rather than the device or the system. */
    public static final class UsedUp extends IOException {

        private static final long serialVersionUID = 1L;

        private UsedUp(String message) {
            super(message);
        }
    }

    private final AtomicLong used = new AtomicLong();
    private volatile long most = Long.MAX_VALUE;
    private volatile Runnable shortage = () -> {};
    /** How often what is kept is freed where memory is short: if each refusal did it, nothing would ever be kept. */
    private static final long SHORTAGE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private volatile long shortAt = System.nanoTime() - SHORTAGE_NANOS;
    private final LongAdder refusals = new LongAdder();
    private final AtomicBoolean warned = new AtomicBoolean();

    /**
     * Sets the limit.
     *
     * @param bytes the limit from now on; what is registered beyond it stays until it is given back
     */
    public void limit(long bytes) {
        most = bytes;
    }

    /** Takes {@code bytes}, all of them or none. Returns whether it got them. */
    boolean take(long bytes) {
        return take(bytes, most);
    }

    /** Takes like {@link #take}, for dispensable uses: a quarter of the limit is left to those who need memory. */
    boolean takeForLending(long bytes) {
        return take(bytes, most - most / 4);
    }

    private boolean take(long bytes, long bound) {
        long now;
        do {
            now = used.get();
            if (now + bytes > bound) {
                return false;
            }
        } while (!used.compareAndSet(now, now + bytes));
        return true;
    }

    /** Explains why {@link #take} refused {@code bytes}. */
    UsedUp usedUp(long bytes, String device) {
        return usedUp("is used up", bytes, device);
    }

    /** Explains why {@link #takeForLending} refused {@code bytes}. */
    UsedUp usedUpForLending(long bytes, String device) {
        return usedUp("allows lending only until three quarters are in use", bytes, device);
    }

    private UsedUp usedUp(String why, long bytes, String device) {
        return new UsedUp("memory.registered=" + size(most) + " " + why + ": " + size(used.get()) + " registered, "
                + size(bytes) + " wanted on " + device);
    }

    private static String size(long bytes) {
        return bytes % (1 << 20) == 0 ? (bytes >> 20) + " MiB" : (bytes >> 10) + " KiB";
    }

    /** Returns whether {@code e} says that memory is lacking, according to the limit, the device or the system. */
    static boolean isLack(Throwable e) {
        return e instanceof UsedUp || e instanceof ErrnoException v && v.errno() == Errno.ENOMEM;
    }

    /**
     * Returns whether it may help to free what is kept for later: memory is lacking, or there are as many objects as
     * the device (mlx5) or the cgroup for RDMA allows, which both report as EAGAIN.
     */
    static boolean isLackOfObjects(Throwable e) {
        return isLack(e) || e instanceof ErrnoException v && v.errno() == Errno.EAGAIN;
    }

    /** Returns what to do about a {@linkplain #isLackOfObjects lack of memory or objects}, for people. */
    static String remedy(Throwable lack) {
        if (lack instanceof UsedUp) {
            return "raise memory.registered";
        }
        if (!isLack(lack)) {
            return "the device, or rdma.max of this process's cgroup (hca_object), allows no more";
        }
        MemlockLimit limit = MemlockLimit.ofThisProcess(); // how much was in use just before is not known any more
        return limit.mayApply()
                ? "ulimit -l is " + limit + ": raise it if that is used up"
                : "this is not the limit on locked memory, which does not apply here: see the kernel's log";
    }

    void giveBack(long bytes) {
        long left = used.addAndGet(-bytes);
        assert left >= 0 : left;
    }

    /** Runs {@code action} when memory {@linkplain #reportShortage() is short}, once a second; it must not wait. */
    void onShortage(Runnable action) {
        shortage = action;
    }

    /** Reports that this budget, the device or the system has refused more memory to a stream. */
    void reportShortage() {
        refusals.increment();
        long now = System.nanoTime();
        if (now - shortAt >= SHORTAGE_NANOS) {
            shortAt = now;
            shortage.run();
        }
    }

    /** Returns how often that was. */
    public long refusals() {
        return refusals.sum();
    }

    /** Returns true once: whether the caller is the first to tell people of it. */
    boolean isToBeTold() {
        return !warned.get() && warned.compareAndSet(false, true);
    }

    public long used() {
        return used.get();
    }

    long most() {
        return most;
    }
}
