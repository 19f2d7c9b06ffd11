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
            OWNER = MethodHandles.lookup().findVarHandle(SpinLock.class, "owner", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile Thread owner;

    void lock() {
        Thread me = Thread.currentThread();
        if (owner == me) {
            throw new IllegalStateException("lock taken twice by " + me);
        }
        int tries = 0;
        while (owner != null || !OWNER.compareAndSet(this, (Thread) null, me)) {
            if (++tries < SPINS) {
                Thread.onSpinWait();
            } else {
                Thread.yield(); // the holder may be waiting for this CPU
            }
        }
    }

    void unlock() {
        assert isHeld();
        OWNER.setRelease(this, (Thread) null);
    }

    boolean isHeld() {
        return owner == Thread.currentThread();
    }
}
