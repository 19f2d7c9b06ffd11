/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.Verbs;

/**
 * The bundles of connections that are over, kept a short while for connections to come: making one takes a dozen calls
 * of the kernel and pins its memory, freeing it as many more. What is kept is bounded in number, bytes and time. Any
 * thread.
 */
final class ResourcePool {

    private static final int MAX_IDLE = 64;
    private static final long MAX_IDLE_BYTES = 32 << 20;
    static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private record Idle(ConnectionResources bundle, long since) {}

    private final RdmaTransport transport;
    private final Verbs verbs;
    private final long idleNanos;
    private final MemoryBudget budget;

    // Guarded by this.
    private final Deque<Idle> idle = new ArrayDeque<>(); // the latest first: its memory is in the caches still
    private long idleBytes;
    private boolean expiring;
    private boolean closed;

    ResourcePool(RdmaTransport transport, Verbs verbs, long idleNanos, MemoryBudget budget) {
        this.transport = transport;
        this.verbs = verbs;
        this.idleNanos = idleNanos;
        this.budget = budget;
    }

    Verbs verbs() {
        return verbs;
    }

    /** One that was kept, or else a new one. When there is no memory for it, what is kept for others goes first. */
    ConnectionResources obtain(ConnectionResources.Shape shape) throws IOException {
        ConnectionResources kept = take(shape);
        if (kept != null) {
            return kept;
        }
        try {
            return new ConnectionResources(verbs, shape, budget);
        } catch (ErrnoException e) {
            if (e.errno() != Errno.ENOMEM || !freeIdle()) {
                throw e;
            }
        } catch (OutOfMemoryError e) {
            if (!freeIdle()) {
                throw e;
            }
        }
        return new ConnectionResources(verbs, shape, budget);
    }

    private synchronized ConnectionResources take(ConnectionResources.Shape shape) {
        for (Iterator<Idle> each = idle.iterator(); each.hasNext(); ) {
            ConnectionResources bundle = each.next().bundle;
            if (bundle.shape.equals(shape)) {
                each.remove();
                idleBytes -= shape.bytes();
                return bundle;
            }
        }
        return null;
    }

    /** Takes back a renewed one; frees what is too much. By a thread that may take its time. */
    void giveBack(ConnectionResources bundle) {
        List<ConnectionResources> tooMuch = new ArrayList<>();
        synchronized (this) {
            if (closed || bundle.shape.device().isLost()) {
                tooMuch.add(bundle);
            } else {
                idle.addFirst(new Idle(bundle, System.nanoTime()));
                idleBytes += bundle.shape.bytes();
                while (idle.size() > MAX_IDLE || idleBytes > MAX_IDLE_BYTES) {
                    tooMuch.add(removeOldest());
                }
                if (!expiring && !idle.isEmpty()) {
                    expiring = true;
                    transport.service().schedule(this::expire, idleNanos);
                }
            }
        }
        tooMuch.forEach(ConnectionResources::free);
    }

    /** With lock. */
    private ConnectionResources removeOldest() {
        ConnectionResources bundle = idle.removeLast().bundle;
        idleBytes -= bundle.shape.bytes();
        return bundle;
    }

    /** Service thread. */
    private void expire() {
        List<ConnectionResources> old = new ArrayList<>();
        synchronized (this) {
            long now = System.nanoTime();
            while (!idle.isEmpty() && now - idle.getLast().since >= idleNanos) {
                old.add(removeOldest());
            }
            expiring = !idle.isEmpty();
            if (expiring) {
                transport.service().schedule(this::expire, idleNanos - (now - idle.getLast().since));
            }
        }
        old.forEach(bundle -> transport.reap(bundle::free));
    }

    /** Frees what is kept; whether there was anything. */
    boolean freeIdle() {
        List<ConnectionResources> all = new ArrayList<>();
        synchronized (this) {
            while (!idle.isEmpty()) {
                all.add(removeOldest());
            }
        }
        all.forEach(ConnectionResources::free);
        return !all.isEmpty();
    }

    /** Nothing of this device, which is lost, is kept any more. */
    void deviceRemoved(Device device) {
        List<ConnectionResources> gone = new ArrayList<>();
        synchronized (this) {
            idle.removeIf(each -> {
                if (each.bundle.shape.device() != device) {
                    return false;
                }
                idleBytes -= each.bundle.shape.bytes();
                return gone.add(each.bundle);
            });
        }
        gone.forEach(bundle -> transport.reap(bundle::free));
    }

    /** As {@link #freeIdle()}, and nothing is kept from now on. */
    void close() {
        synchronized (this) {
            closed = true;
        }
        freeIdle();
    }
}
