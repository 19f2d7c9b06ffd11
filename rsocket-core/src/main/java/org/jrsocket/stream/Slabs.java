/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import com.ibm.disni.verbs.IbvMr;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
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
 * when it needs more. When memory is short it gets smaller ones, or none, and goes on with what it has. Guarded by the
 * stream's lock.
 */
final class Slabs implements SlabSource {

    private static final Logger LOG = LoggerFactory.getLogger(Slabs.class);

    /** How long after a refusal no request for as much is made. */
    private static final long REFUSED_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Verbs verbs;
    private final Device device;
    private final Pd pd;
    private final MemoryBudget budget;
    private final Consumer<Runnable> reapers;
    private final List<RegisteredSlab> spare = new ArrayList<>(); // unused parts
    private final List<RegisteredSlab> grown = new ArrayList<>(); // in use
    private final IdentityHashMap<Mr, ByteBuffer> lent =
            new IdentityHashMap<>(); // the application's buffers, kept reachable while the device uses them
    private long grownBytes;
    private int refused = Integer.MAX_VALUE; // requests of so many bytes or more
    private long refusedAt;

    /** @param reapers what logs a refusal: a logger must not be called with the stream's lock */
    Slabs(Verbs verbs, Device device, Pd pd, MemoryBudget budget, Consumer<Runnable> reapers) {
        this.verbs = verbs;
        this.device = device;
        this.pd = pd;
        this.budget = budget;
        this.reapers = reapers;
    }

    /** Makes {@code part} available from now on. */
    void add(RegisteredSlab part) {
        spare.add(part);
    }

    @Override
    public Slab obtain(int bytes, int least, boolean remote) {
        for (int i = spare.size() - 1; i >= 0; i--) {
            if (spare.get(i).remote == remote && spare.get(i).length() == bytes) {
                return spare.remove(i);
            }
        }
        for (int size = bytes; size >= Math.max(least, NativeMemory.PAGE); size /= 2) {
            RegisteredSlab slab = isRefused(size) ? null : register(size, remote);
            if (slab != null) {
                return slab;
            }
        }
        for (int i = spare.size() - 1; i >= 0; i--) {
            int size = spare.get(i).length();
            if (spare.get(i).remote == remote && size < bytes && size >= least) {
                return spare.remove(i);
            }
        }
        return null;
    }

    private boolean isRefused(int size) {
        return size >= refused && System.nanoTime() - refusedAt < REFUSED_NANOS;
    }

    private RegisteredSlab register(int bytes, boolean remote) {
        int size = bytes + NativeMemory.PAGE - 1 & -NativeMemory.PAGE;
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
            grownBytes += pinned;
            return slab;
        } catch (IOException | OutOfMemoryError e) {
            if (mr == null || deregister(mr)) {
                budget.giveBack(pinned);
                if (memory != null) {
                    memory.free();
                }
            }
            return refuse(size, e);
        }
    }

    private RegisteredSlab refuse(int size, Throwable cause) {
        if (LOG.isDebugEnabled()) { // else the text would be built for nothing, perhaps where there is no heap for it
            String why = cause == null ? "memory.registered is used up" : cause.toString();
            reapers.accept(() -> LOG.debug(
                    "cannot add {} KiB to the memory of a connection on {}: {}", size >> 10, device.name(), why));
        }
        refused = cause == null && budget.used() >= budget.most() ? 0 : size;
        refusedAt = System.nanoTime();
        budget.reportShortage();
        return null;
    }

    @Override
    public void release(Slab released) {
        RegisteredSlab slab = (RegisteredSlab) released;
        if (slab.memory == null) {
            spare.add(slab);
        } else {
            grown.remove(slab);
            free(slab);
        }
    }

    /**
     * Registers memory of the application, within three quarters of the limit of the process: later connections need
     * the rest, and what is not lent is copied.
     *
     * @throws IOException if the device or that limit refuses
     */
    Mr lend(ByteBuffer memory) throws IOException {
        int bytes = memory.capacity();
        if (!budget.takeForLending(bytes)) {
            budget.reportShortage();
            throw budget.usedUpForLending(bytes, device.name());
        }
        Mr mr = null;
        try {
            mr = verbs.registerMr(pd, NativeMemory.addressOf(memory), bytes, IbvMr.IBV_ACCESS_LOCAL_WRITE);
            lent.put(mr, memory);
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
    void endLending(Mr mr) {
        ByteBuffer memory = lent.remove(mr);
        if (memory != null && deregister(mr)) {
            budget.giveBack(memory.capacity());
        }
    }

    /** Returns the bytes registered beyond what the connection had from the beginning. */
    long grownBytes() {
        long sum = grownBytes;
        for (ByteBuffer memory : lent.values()) {
            sum += memory.capacity();
        }
        return sum;
    }

    /** Ends all registrations of the application's memory. No queue pair may be left. */
    void endLending() {
        while (!lent.isEmpty()) { // each is removed before it is freed, and so never met again, whatever happens
            endLending(lent.keySet().iterator().next());
        }
    }

    /** Frees what was registered beyond what the connection had from the beginning. No queue pair may be left. */
    void freeGrown() {
        while (!grown.isEmpty()) { // as above
            free(grown.remove(grown.size() - 1));
        }
        endLending();
    }

    private void free(RegisteredSlab slab) {
        int pinned = NativeMemory.whole(slab.length());
        grownBytes -= pinned;
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
