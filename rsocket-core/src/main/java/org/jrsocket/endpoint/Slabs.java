/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

import com.ibm.disni.verbs.IbvMr;
import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.protocol.Slab;
import org.jrsocket.protocol.SlabSource;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.Mr;
import org.jrsocket.verbs.Pd;
import org.jrsocket.verbs.Verbs;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The slabs of one connection: a few that it has from the beginning and never gives up, and others that it registers
 * when it needs more. When memory is short it gets smaller ones, or none, and goes on with what it has.
 *
 * <p>Two locks guard it. The stream's guards what is spare, offered and wished. The monitor of this object guards what
 * is registered, and is held while the device registers memory or ends a registration, which may take it a minute. So
 * no thread takes it that has the stream's lock.
 */
public final class Slabs implements SlabSource {

    private static final Logger LOG = LoggerFactory.getLogger(Slabs.class);

    /** How long after a refusal no request for as much is made: twice as long after each that follows. */
    private static final long SHORTEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private static final long LONGEST_PAUSE_NANOS = 128 * SHORTEST_PAUSE_NANOS;

    private final Verbs verbs;
    private final Device device;
    private final Pd pd;
    private final MemoryBudget budget;
    private final Predicate<Runnable> reapers;

    // Guarded by the stream's lock.
    private final List<RegisteredSlab> spare = new ArrayList<>(); // unused parts
    private RegisteredSlab offered; // what was just registered
    private boolean refusing; // nothing could be, and nobody is to ask again now
    private int wished; // bytes to receive into that are to be registered; 0 if none are
    private int leastWished;

    // Guarded by this.
    private final List<RegisteredSlab> grown = new ArrayList<>();
    private final IdentityHashMap<Mr, ByteBuffer> lent =
            new IdentityHashMap<>(); // the application's buffers, kept reachable while the device uses them
    private boolean over; // the queue pair is gone, and with it what was registered
    private boolean lendingOver;

    private final AtomicLong grownBytes = new AtomicLong(); // of both
    private volatile int refused = Integer.MAX_VALUE; // requests of so many bytes or more
    private volatile long refusedAt;
    private volatile long pauseNanos = SHORTEST_PAUSE_NANOS; // written with the monitor

    /**
     * @param reapers what ends registrations, and logs: a logger must not be called with the stream's lock; false if no
     *     other thread can
     */
    Slabs(Verbs verbs, Device device, Pd pd, MemoryBudget budget, Predicate<Runnable> reapers) {
        this.verbs = verbs;
        this.device = device;
        this.pd = pd;
        this.budget = budget;
        this.reapers = reapers;
    }

    // ---- with the stream's lock ----

    /** Makes {@code part} available from now on. */
    void add(RegisteredSlab part) {
        spare.add(part);
    }

    @Override
    public boolean isReady(int bytes, int least, boolean remote) {
        if (refusing || !mustRegister(bytes, least, remote)) {
            return true;
        }
        wished = bytes;
        leastWished = least;
        return false;
    }

    /** Returns whether {@link #obtain} has to wait for {@link #register}: nothing else fits, and that may succeed. */
    public boolean mustRegister(int bytes, int least, boolean remote) {
        if (isOffered(bytes, least, remote) || indexOfSpare(bytes, remote) >= 0) {
            return false;
        }
        for (int size = bytes; size >= Math.max(least, NativeMemory.PAGE); size /= 2) {
            if (!isRefused(inPages(size))) {
                return true;
            }
        }
        return false;
    }

    private boolean isOffered(int bytes, int least, boolean remote) {
        return offered != null
                && offered.remote == remote
                && offered.length() >= least
                && offered.length() <= inPages(bytes);
    }

    private int indexOfSpare(int bytes, boolean remote) {
        for (int i = spare.size() - 1; i >= 0; i--) {
            if (spare.get(i).remote == remote && spare.get(i).length() == bytes) {
                return i;
            }
        }
        return -1;
    }

    /** Returns what is spare or offered; it never registers anything. */
    @Override
    public Slab obtain(int bytes, int least, boolean remote) {
        int exact = indexOfSpare(bytes, remote);
        if (exact >= 0) {
            return spare.remove(exact);
        }
        if (isOffered(bytes, least, remote)) {
            RegisteredSlab slab = offered;
            offered = null;
            return slab;
        }
        for (int i = spare.size() - 1; i >= 0; i--) {
            int size = spare.get(i).length();
            if (spare.get(i).remote == remote && size < bytes && size >= least) {
                return spare.remove(i);
            }
        }
        return null;
    }

    /** Lets {@link #obtain} have {@code slab}, or refuses if that is null, until {@link #withdraw}. */
    public void offer(RegisteredSlab slab) {
        offered = slab;
        refusing = slab == null;
    }

    public void withdraw() {
        RegisteredSlab unused = offered;
        offered = null;
        refusing = false;
        if (unused != null) {
            release(unused);
        }
    }

    /** Returns whether memory to receive into is to be registered: {@link #isReady} has said no. */
    public boolean isWished() {
        return wished > 0;
    }

    public int wished() {
        return wished;
    }

    public int leastWished() {
        return leastWished;
    }

    public void forgetWish() {
        wished = 0;
    }

    @Override
    public void release(Slab released) {
        RegisteredSlab slab = (RegisteredSlab) released;
        if (slab.memory == null) {
            spare.add(slab);
            return;
        }
        try {
            boolean unused = reapers.test(() -> free(slab));
        } catch (OutOfMemoryError e) {
            // as if that was false: then it is freed when the connection ends
        }
    }

    // ---- without it ----

    private boolean isRefused(int size) {
        return size >= refused && System.nanoTime() - refusedAt < pauseNanos;
    }

    private static int inPages(int bytes) {
        return bytes + NativeMemory.PAGE - 1 & -NativeMemory.PAGE;
    }

    /** Registers a slab of {@code bytes}, or a smaller one; returns null if there is no more memory. */
    public synchronized RegisteredSlab register(int bytes, int least, boolean remote) {
        boolean asked = false;
        for (int size = bytes; size >= Math.max(least, NativeMemory.PAGE); size /= 2) {
            if (over || isRefused(inPages(size))) {
                continue;
            }
            asked = true;
            RegisteredSlab slab = register(inPages(size), remote);
            if (slab != null) {
                pauseNanos = SHORTEST_PAUSE_NANOS;
                return slab;
            }
        }
        if (asked) {
            pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
        }
        return null;
    }

    /** Called with the monitor held. */
    private RegisteredSlab register(int size, boolean remote) {
        int pinned = NativeMemory.whole(size);
        if (!budget.take(pinned)) {
            return refuse(size, null);
        }
        NativeMemory memory = null;
        Mr mr = null;
        try {
            memory = NativeMemory.allocate(size);
            int access = IbvMr.IBV_ACCESS_LOCAL_WRITE | (remote ? IbvMr.IBV_ACCESS_REMOTE_WRITE : 0);
            mr = verbs.registerMr(pd, memory.address(), size, access);
            RegisteredSlab slab = RegisteredSlab.all(memory, mr, remote);
            grown.add(slab);
            grownBytes.addAndGet(pinned);
            return slab;
        } catch (IOException | RuntimeException | Error e) { // the stream goes on with what it has
            if (mr == null || deregister(mr)) {
                budget.giveBack(pinned);
                if (memory != null) {
                    memory.free();
                }
            }
            return refuse(size, e);
        }
    }

    /** @param cause null: the limit of the process */
    private RegisteredSlab refuse(int size, Throwable cause) {
        refusedAt = System.nanoTime();
        refused = cause == null && budget.used() >= budget.most() ? 0 : size;
        budget.reportShortage();
        boolean first = (cause == null || MemoryBudget.isLackOfObjects(cause)) && budget.isToBeTold();
        if (first || LOG.isDebugEnabled()) { // else the text would be built for nothing, perhaps without heap for it
            tell(first, size, cause);
        }
        return null;
    }

    private void tell(boolean first, int size, Throwable cause) {
        try {
            Throwable why = cause == null ? budget.usedUp(size, device.name()) : cause;
            boolean unused = reapers.test(() -> log(first, size, why));
        } catch (OutOfMemoryError e) {
            // the connection goes on, and so does whoever reads or writes
        }
    }

    private void log(boolean first, int size, Throwable why) {
        if (first) {
            LOG.warn(
                    "connections over {} stay smaller than they would be, for lack of {} ({}); {}. Further ones are"
                            + " logged at debug level only.",
                    device.name(),
                    MemoryBudget.isLack(why) ? "memory" : "room",
                    why.getMessage(),
                    MemoryBudget.remedy(why));
        }
        LOG.debug(
                "cannot add {} KiB to the memory of a connection on {}: {}", size >> 10, device.name(), why.toString());
    }

    /**
     * Registers memory of the application, within three quarters of the limit of the process: later connections need
     * the rest, and what is not lent is copied.
     *
     * @throws IOException if the device or that limit refuses, or the connection has ended
     */
    public synchronized Mr lend(ByteBuffer memory) throws IOException {
        int bytes = memory.capacity();
        if (lendingOver) {
            throw new SocketException("Socket closed");
        }
        if (!budget.takeForLending(bytes)) {
            budget.reportShortage();
            throw budget.usedUpForLending(bytes, device.name());
        }
        Mr mr = null;
        try {
            mr = verbs.registerMr(pd, NativeMemory.addressOf(memory), bytes, IbvMr.IBV_ACCESS_LOCAL_WRITE);
            lent.put(mr, memory);
            grownBytes.addAndGet(bytes);
            return mr;
        } catch (IOException | RuntimeException | Error e) {
            if (mr == null || deregister(mr)) {
                budget.giveBack(bytes);
            }
            budget.reportShortage();
            throw e;
        }
    }

    /** Ends the registration of memory of which nothing is on its way any more. */
    public synchronized void endLending(Mr mr) {
        ByteBuffer memory = lent.remove(mr);
        if (memory == null) {
            return;
        }
        grownBytes.addAndGet(-memory.capacity());
        if (deregister(mr)) {
            budget.giveBack(memory.capacity());
        }
    }

    /** Returns the bytes registered beyond what the connection had from the beginning. Any thread may ask. */
    public long grownBytes() {
        return grownBytes.get();
    }

    /** Ends all registrations of the application's memory. No queue pair may be left. */
    synchronized void endLending() {
        lendingOver = true;
        while (!lent.isEmpty()) { // each is removed before it is freed, and so never met again, whatever happens
            endLending(lent.keySet().iterator().next());
        }
    }

    /** Frees what was registered beyond what the connection had from the beginning. No queue pair may be left. */
    synchronized void freeGrown() {
        over = true;
        while (!grown.isEmpty()) { // as above
            free(grown.get(grown.size() - 1));
        }
        endLending();
    }

    private synchronized void free(RegisteredSlab slab) {
        if (!grown.remove(slab)) {
            return; // with the rest
        }
        int pinned = NativeMemory.whole(slab.length());
        grownBytes.addAndGet(-pinned);
        if (deregister(slab.mr)) {
            slab.memory.free();
            budget.giveBack(pinned);
        }
    }

    /** Memory that is still registered is not freed: the peer could write into whatever took its place. */
    private boolean deregister(Mr mr) {
        return Freeing.attempt("ibv_dereg_mr", device, Verbs::deregisterMr, verbs, mr);
    }
}
