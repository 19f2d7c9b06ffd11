/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

import java.io.IOException;
import java.util.Collections;
import java.util.Deque;
import java.util.Iterator;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.TimeUnit;
import org.jrsocket.threads.Reapers;
import org.jrsocket.threads.ServiceLoop;
import org.jrsocket.threads.Threads;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.Verbs;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The bundles of ended connections, kept for a short while for later connections. Making a bundle takes a dozen system
 * calls and pins its memory; freeing it takes as many. What is kept is bounded in number, bytes and time, and is freed
 * when memory is short. Thread-safe.
 */
public final class BundlePool {

    private static final Logger LOG = LoggerFactory.getLogger(BundlePool.class);

    private static final int MAX_IDLE = 64;
    private static final long MAX_IDLE_BYTES = 32 << 20;
    public static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);
    /** The time for which room on one device waits for others, which may not answer. */
    private static final long OTHERS_NANOS = TimeUnit.SECONDS.toNanos(1);

    private record Idle(Bundle bundle, long since) {}

    private final ServiceLoop service;
    private final Reapers reapers;
    private final Verbs verbs;
    private final long idleNanos;
    private final MemoryBudget budget;

    private final Runnable expire = this::expire; // made now: without memory for it nothing would expire any more

    // Guarded by this.
    /** The latest first: its memory is still in the caches. An array that cannot grow would lose them all. */
    private final Deque<Idle> idle = new LinkedBlockingDeque<>();

    private final Set<Bundle> all = Collections.newSetFromMap(new WeakHashMap<>()); // in use, too
    private long idleBytes;
    private boolean expiring;
    private boolean closed;

    public BundlePool(Verbs verbs, long idleNanos, MemoryBudget budget, ServiceLoop service, Reapers reapers) {
        this.service = service;
        this.reapers = reapers;
        this.verbs = verbs;
        this.idleNanos = idleNanos;
        this.budget = budget;
        budget.onShortage(this::freeIdleSoon);
    }

    public Verbs verbs() {
        return verbs;
    }

    /**
     * Returns a kept bundle, or else a new one. Without memory for a new one, what is kept for others is freed first.
     */
    Bundle obtain(Bundle.Shape shape) throws IOException {
        Bundle kept = take(shape);
        if (kept != null) {
            return kept;
        }
        try {
            return make(shape);
        } catch (IOException e) {
            if (!MemoryBudget.isLackOfObjects(e) || !makeRoom(shape.device())) {
                throw e;
            }
        } catch (OutOfMemoryError e) {
            if (!makeRoom(shape.device())) {
                throw e;
            }
        }
        return make(shape);
    }

    private Bundle make(Bundle.Shape shape) throws IOException {
        Bundle made = new Bundle(verbs, shape, budget, task -> reapers.handOver(shape.device(), task));
        try {
            synchronized (this) {
                all.add(made);
            }
            return made;
        } catch (Error e) { // lack of memory
            made.free();
            throw e;
        }
    }

    /**
     * Records that one of the device's completion queues has failed. A bundle that is kept is then not handed out any
     * more, and one that is in use not kept.
     */
    synchronized void queueFailed(Device device, int event) {
        for (Bundle each : all) {
            if (each.shape.device() == device && (each.recvCq.isSubjectOf(event) || each.sendCq.isSubjectOf(event))) {
                each.recvCq.failed(); // for both
            }
        }
    }

    private synchronized Bundle take(Bundle.Shape shape) {
        for (Iterator<Idle> each = idle.iterator(); each.hasNext(); ) {
            Bundle bundle = each.next().bundle;
            if (bundle.shape.isLike(shape) && !bundle.recvCq.hasFailed()) {
                each.remove();
                idleBytes -= shape.bytes();
                return bundle;
            }
        }
        return null;
    }

    /**
     * Takes back a bundle whose queue pair is gone: keeps it if it can be used again, and has freed what exceeds the
     * limits. Called by a thread that may take its time.
     */
    void giveBack(Bundle bundle) {
        if (!keep(bundle)) {
            bundle.free();
        }
        for (Bundle each = takeTooMuch(); each != null; each = takeTooMuch()) {
            if (each.shape.device() == bundle.shape.device()) {
                each.free();
            } else {
                reap(each);
            }
        }
    }

    private boolean keep(Bundle bundle) {
        try {
            if (!bundle.shape.device().queuesOutliveQp() || !bundle.renew()) {
                return false;
            }
            Idle kept = new Idle(bundle, System.nanoTime());
            synchronized (this) {
                if (closed || bundle.shape.device().isLost()) {
                    return false;
                }
                expireIn(idleNanos);
                idle.addFirst(kept); // the last step that may fail
                idleBytes += bundle.shape.bytes();
                return true;
            }
        } catch (RuntimeException | Error e) { // lack of memory, for example
            LOG.debug(
                    "cannot keep the queues and memory of a closed connection on {} for reuse",
                    bundle.shape.device(),
                    e);
            return false;
        }
    }

    private synchronized Bundle takeTooMuch() {
        long most = Math.min(MAX_IDLE_BYTES, budget.most() / 4);
        return idle.size() > MAX_IDLE || idleBytes > most ? removeOldest() : null;
    }

    /** Called with the lock held. */
    private void expireIn(long nanos) {
        if (!expiring) {
            service.schedule(expire, nanos);
            expiring = true;
        }
    }

    /** Called with the lock held. */
    private Bundle removeOldest() {
        Bundle bundle = idle.removeLast().bundle;
        idleBytes -= bundle.shape.bytes();
        return bundle;
    }

    /** Called on the service thread. */
    private void expire() {
        long now = System.nanoTime();
        long left;
        try {
            reapOlder(now - idleNanos);
        } finally {
            synchronized (this) {
                expiring = !idle.isEmpty();
                left = expiring ? Math.max(1, idleNanos - (now - idle.getLast().since)) : 0;
            }
            if (left > 0) {
                service.scheduleAgain(expire, left);
            }
        }
    }

    private void reap(Bundle bundle) {
        try {
            reapers.reap(bundle.shape.device(), bundle::free);
        } catch (OutOfMemoryError e) { // then here: nothing else refers to it any more
            bundle.free();
        }
    }

    private void reap(Bundle bundle, CountDownLatch freed) {
        try {
            reapers.reap(bundle.shape.device(), () -> free(bundle, freed));
        } catch (OutOfMemoryError e) { // as above
            free(bundle, freed);
        }
    }

    private static void free(Bundle bundle, CountDownLatch freed) {
        bundle.free();
        freed.countDown();
    }

    private void reapOlder(long than) {
        for (Bundle old = takeOlder(than); old != null; old = takeOlder(than)) {
            reap(old);
        }
    }

    /**
     * Takes a bundle that has been kept since {@code than} or longer; null if there is none. Bundles are taken one by
     * one, because those that were taken are lost when there is no memory for the next step.
     */
    private synchronized Bundle takeOlder(long than) {
        return !idle.isEmpty() && idle.getLast().since - than <= 0 ? removeOldest() : null;
    }

    private synchronized int count() {
        return idle.size();
    }

    private synchronized Bundle takeOldest() {
        return idle.isEmpty() ? null : removeOldest();
    }

    /** Frees what is kept. Returns whether there was anything. */
    public boolean freeIdle() {
        long now = System.nanoTime();
        boolean any = false;
        for (Bundle each = takeOlder(now); each != null; each = takeOlder(now)) {
            each.free();
            any = true;
        }
        return any;
    }

    /**
     * Frees what is kept, for something that is to be made on {@code device}. What is on other devices is freed by
     * their reapers, because one of them may not answer. Returns whether there was anything.
     */
    boolean makeRoom(Device device) {
        int most = count();
        CountDownLatch freed = new CountDownLatch(most);
        int left = most;
        for (Bundle each; left > 0 && (each = takeOldest()) != null; left--) {
            if (each.shape.device() == device) {
                free(each, freed);
            } else {
                reap(each, freed);
            }
        }
        boolean any = left < most;
        for (; left > 0; left--) { // which others have taken meanwhile
            freed.countDown();
        }
        Threads.await(freed, OTHERS_NANOS);
        return any;
    }

    /** Does the same on reapers: the thread that lacks the memory may hold a connection's {@code Slabs}. */
    private void freeIdleSoon() {
        reapOlder(System.nanoTime());
    }

    /** Frees what is kept of a lost device. */
    void deviceRemoved(Device device) {
        for (Bundle gone = takeOf(device); gone != null; gone = takeOf(device)) {
            reap(gone);
        }
    }

    private synchronized Bundle takeOf(Device device) {
        for (Iterator<Idle> each = idle.iterator(); each.hasNext(); ) {
            Bundle bundle = each.next().bundle;
            if (bundle.shape.device() == device) {
                each.remove();
                idleBytes -= bundle.shape.bytes();
                return bundle;
            }
        }
        return null;
    }

    /** Has reapers free what is kept, and keeps nothing from now on. */
    public void close() {
        synchronized (this) {
            closed = true;
        }
        freeIdleSoon();
    }
}
