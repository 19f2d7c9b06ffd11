/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.verbs.Cq;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.WcBatch;

/**
 * A completion queue of exactly the size asked for. The slots of the work requests behind a completion become free when
 * it is polled, not before, as on mlx5: a user that never polls, or never signals, runs out of slots.
 */
class LoopbackCq extends Cq {

    private static final int SPINS = 32;

    private final LoopbackDevice device;
    private final LoopbackCompChannel completionChannel;
    private final int cookie;
    private final int capacity;
    private final int mask;
    final AtomicInteger users = new AtomicInteger();

    private final SpinLock lock = new SpinLock();
    // The ring, guarded by lock.
    private final long[] ids;
    private final int[] statuses;
    private final int[] opcodes;
    private final int[] lengths;
    private final int[] imms;
    private final int[] flags;
    private final int[] freed;
    private final LoopbackQp[] qps;
    private long polled; // written under lock
    private final Counter pushed = new Counter(); // raised under lock
    private boolean armed; // guarded by lock
    private volatile boolean armWanted; // the next poll arms
    private volatile boolean broken;

    LoopbackCq(LoopbackDevice device, LoopbackCompChannel channel, int entries, int cookie) throws IOException {
        super(device, channel, device.nextCq());
        if (entries < 1 || entries > device.maxCqe() || cookie < 0 || channel != null && channel.device() != device) {
            throw new ErrnoException("ibv_create_cq", entries + " entries, cookie " + cookie, Errno.EINVAL);
        }
        device.admit("ibv_create_cq", Registry.Kind.CQ);
        this.device = device;
        this.completionChannel = channel;
        this.cookie = cookie;
        this.capacity = entries;
        this.cqe = entries;
        int size = Rings.powerOfTwo(entries);
        mask = size - 1;
        ids = new long[size];
        statuses = new int[size];
        opcodes = new int[size];
        lengths = new int[size];
        imms = new int[size];
        flags = new int[size];
        freed = new int[size];
        qps = new LoopbackQp[size];
        if (channel != null) {
            channel.cqs.incrementAndGet();
        }
        device.provider().registry().add(Registry.Kind.CQ, this);
    }

    int cookie() {
        return cookie;
    }

    /** @param slots how many send slots polling this entry frees; -1 for one receive slot */
    void push(LoopbackQp qp, int slots, long id, int status, int opcode, int length, int imm, int flag) {
        boolean notify;
        lock.lock();
        try {
            long count = pushed.get();
            if (broken || count - polled == capacity) {
                if (!broken) {
                    broken = true;
                    device.provider().registry().violation("completion queue of " + capacity + " entries overflows");
                    device.raise(Device.event(Device.EVENT_CQ_ERR, handle));
                }
                return;
            }
            int at = (int) count & mask;
            ids[at] = id;
            statuses[at] = status;
            opcodes[at] = opcode;
            lengths[at] = length;
            imms[at] = imm;
            flags[at] = flag;
            freed[at] = slots;
            qps[at] = qp;
            pushed.add(1);
            notify = armed;
            armed = false;
        } finally {
            lock.unlock();
        }
        if (notify && completionChannel != null) {
            completionChannel.raise(this);
        }
    }

    @Override
    public int poll(WcBatch batch) {
        if (armWanted) {
            armNow();
        }
        if (pushed.get() == polled || broken || !isOpen) {
            return unusable();
        }
        lock.lock();
        try {
            int count = (int) Math.min(pushed.get() - polled, batch.capacity());
            for (int i = 0; i < count; i++) {
                int at = (int) polled & mask;
                LoopbackQp qp = qps[at];
                qps[at] = null;
                batch.set(i, ids[at], statuses[at], opcodes[at], lengths[at], imms[at], qp.number(), flags[at]);
                qp.freed(freed[at]);
                polled++;
            }
            return count;
        } finally {
            lock.unlock();
        }
    }

    private int unusable() {
        if (!isOpen) {
            device.provider().registry().violation("completion queue used after destroy");
            return -Errno.EINVAL;
        }
        return broken ? -Errno.EIO : 0;
    }

    @Override
    public boolean spin(long nanos) {
        if (hasSome()) {
            return true;
        }
        long start = nanos > 0 ? System.nanoTime() : 0;
        while (nanos > 0 && System.nanoTime() - start < nanos) {
            for (int i = 0; i < SPINS; i++) {
                Thread.onSpinWait();
                if (hasSome()) {
                    return true;
                }
            }
        }
        return false;
    }

    private boolean hasSome() {
        return pushed.get() != polled || broken || !isOpen;
    }

    @Override
    public int arm() {
        if (!isOpen || broken) {
            return unusable();
        }
        if (device.lateArms) {
            armWanted = true;
        } else {
            armNow();
        }
        return 0;
    }

    private void armNow() {
        lock.lock();
        try {
            armed = true; // completions that are there already raise nothing
            armWanted = false;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public synchronized int destroyCQ() throws IOException {
        if (!isOpen) {
            return 0;
        }
        if (users.get() > 0) {
            throw new ErrnoException("ibv_destroy_cq", users + " queue pairs", Errno.EBUSY);
        }
        if (completionChannel != null) {
            completionChannel.purge(this);
            completionChannel.cqs.decrementAndGet();
        }
        isOpen = false;
        device.provider().registry().remove(Registry.Kind.CQ, this);
        return 0;
    }
}
