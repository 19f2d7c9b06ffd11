/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;

/**
 * How much memory a process may have registered with its devices for streams. A stream that is refused makes do with
 * less. Any thread.
 */
final class MemoryBudget {

    /** The bound refuses, and neither the device nor the system. */
    static final class UsedUp extends IOException {

        private static final long serialVersionUID = 1L;

        private UsedUp(String message) {
            super(message);
        }
    }

    private final AtomicLong used = new AtomicLong();
    private volatile long most = Long.MAX_VALUE;
    private volatile Runnable shortage = () -> {};

    /** @param bytes the bound from now on; what is registered beyond it stays until it is given back */
    void limit(long bytes) {
        most = bytes;
    }

    /** Takes {@code bytes}, all of them or none; returns whether it got them. */
    boolean take(long bytes) {
        return take(bytes, most);
    }

    /** As {@link #take}, for what can be done without: a quarter of the bound is left to those who need it. */
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

    /** Why {@code bytes} were refused by {@link #take}. */
    UsedUp usedUp(long bytes, String device) {
        return usedUp("is used up", bytes, device);
    }

    /** Why {@code bytes} were refused by {@link #takeForLending}. */
    UsedUp usedUpForLending(long bytes, String device) {
        return usedUp("lends no more than three quarters", bytes, device);
    }

    private UsedUp usedUp(String why, long bytes, String device) {
        return new UsedUp("memory.registered=" + size(most) + " " + why + ": " + size(used.get()) + " registered, "
                + size(bytes) + " wanted on " + device);
    }

    private static String size(long bytes) {
        return bytes % (1 << 20) == 0 ? (bytes >> 20) + " MiB" : (bytes >> 10) + " KiB";
    }

    /** Whether {@code e} says that memory is lacking: by the bound, the device or the system. */
    static boolean isLack(Throwable e) {
        return e instanceof UsedUp || e instanceof ErrnoException v && v.errno() == Errno.ENOMEM;
    }

    void giveBack(long bytes) {
        long left = used.addAndGet(-bytes);
        assert left >= 0 : left;
    }

    /** Has {@code action} run whenever somebody {@linkplain #isShort() misses} memory; it must not wait. */
    void onShortage(Runnable action) {
        shortage = action;
    }

    /** This budget, the device or the system has refused a stream more. */
    void isShort() {
        shortage.run();
    }

    long used() {
        return used.get();
    }

    long most() {
        return most;
    }
}
