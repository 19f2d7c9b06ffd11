/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A lock for a few hundred instructions. Not a {@code ReentrantLock}, because that allocates a queue node each time two
 * threads meet, and benchmarks over loopback must show what the stream allocates and nothing else. Harmless to virtual
 * threads: the holder never blocks.
 */
final class SpinLock {

    private static final VarHandle OWNER;
    private static final int SPINS = 100;

    static {
        try {
            OWNER = MethodHandles.lookup().findVarHandle(SpinLock.class, "owner", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The holder's id, or 0. Not a reference, because some collectors need a full fence for each one stored. */
    private volatile long owner;

    void lock() {
        long me = Thread.currentThread().getId();
        if (owner == me) {
            throw new IllegalStateException("lock taken twice by " + Thread.currentThread());
        }
        int tries = 0;
        while (owner != 0 || !OWNER.compareAndSet(this, 0L, me)) {
            if (++tries < SPINS) {
                Thread.onSpinWait();
            } else {
                Thread.yield(); // the holder may be waiting for this CPU
            }
        }
    }

    void unlock() {
        assert isHeld();
        OWNER.setRelease(this, 0L);
    }

    boolean isHeld() {
        return owner == Thread.currentThread().getId();
    }
}
