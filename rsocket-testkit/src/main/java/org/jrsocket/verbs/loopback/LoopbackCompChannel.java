/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.EventFd;
import org.jrsocket.verbs.CompChannel;

final class LoopbackCompChannel extends CompChannel {

    private final LoopbackDevice device;
    private final EventFd eventFd;
    final AtomicInteger cqs = new AtomicInteger();
    private final SpinLock lock = new SpinLock();
    private LoopbackCq[] queue = new LoopbackCq[16]; // ring, guarded by lock
    private int head; // guarded by lock
    private volatile int count; // written under lock

    private LoopbackCompChannel(LoopbackDevice device, EventFd eventFd) throws IOException {
        super(eventFd.fd(), device);
        this.device = device;
        this.eventFd = eventFd;
    }

    static LoopbackCompChannel create(LoopbackDevice device) throws IOException {
        device.admit("ibv_create_comp_channel", Registry.Kind.COMP_CHANNEL);
        LoopbackCompChannel channel = new LoopbackCompChannel(device, new EventFd());
        device.provider().registry().add(Registry.Kind.COMP_CHANNEL, channel);
        return channel;
    }

    LoopbackDevice device() {
        return device;
    }

    void raise(LoopbackCq cq) {
        lock.lock();
        try {
            if (count == queue.length) { // rare: queues are armed again and again, and no events taken
                LoopbackCq[] larger = new LoopbackCq[2 * count];
                for (int i = 0; i < count; i++) {
                    larger[i] = queue[(head + i) % queue.length];
                }
                queue = larger;
                head = 0;
            }
            queue[(head + count) % queue.length] = cq;
            count = count + 1; // first: a thread that sees the descriptor readable must find the event
            if (count == 1) {
                eventFd.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public int takeEvent() {
        if (!isOpen) {
            device.provider().registry().violation("completion channel used after destroy");
            return -1;
        }
        if (count == 0) {
            return -1;
        }
        lock.lock();
        try {
            if (count == 0) {
                return -1;
            }
            LoopbackCq cq = queue[head];
            queue[head] = null;
            head = (head + 1) % queue.length;
            count = count - 1;
            if (count == 0) {
                eventFd.clear();
            }
            return cq.cookie();
        } finally {
            lock.unlock();
        }
    }

    /** Drops the events of a queue that is being destroyed. */
    void purge(LoopbackCq cq) {
        lock.lock();
        try {
            int kept = 0;
            LoopbackCq[] left = new LoopbackCq[queue.length];
            for (int i = 0; i < count; i++) {
                LoopbackCq waiting = queue[(head + i) % queue.length];
                if (waiting != cq) {
                    left[kept++] = waiting;
                }
            }
            if (kept == 0 && count > 0) {
                eventFd.clear();
            }
            Arrays.fill(queue, null);
            queue = left;
            head = 0;
            count = kept;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public synchronized void destroy() throws IOException {
        if (!isOpen) {
            return;
        }
        if (cqs.get() > 0) {
            throw new ErrnoException("ibv_destroy_comp_channel", cqs + " completion queues", Errno.EBUSY);
        }
        isOpen = false;
        eventFd.close();
        device.provider().registry().remove(Registry.Kind.COMP_CHANNEL, this);
    }

    @Override
    public int destroyCompChannel() throws IOException {
        destroy();
        return 0;
    }
}
