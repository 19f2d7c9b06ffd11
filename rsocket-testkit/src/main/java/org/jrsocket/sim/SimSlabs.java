/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import java.util.ArrayList;
import java.util.List;
import org.jrsocket.protocol.Slab;
import org.jrsocket.protocol.SlabSource;

/**
 * The source of one end's slabs: each is a region of its own, or they are pieces of one, which then may touch. They are
 * not always as large as wanted, sometimes they come late, and sometimes there are none.
 */
final class SimSlabs implements SlabSource {

    private final Simulation simulation;
    private final SimMemory memory;
    private final List<Slab> slabs = new ArrayList<>();
    private final List<SimMemory.Region> regions = new ArrayList<>();
    private SimMemory.Region shared;
    private int refuses; // one in so many times; 0 for never
    private int delays; // likewise
    private Actor late = null; // brings what is delayed
    private boolean awaited;
    private boolean came;
    private boolean taken;
    private int wished; // bytes of what is delayed
    private int leastWished;
    private int offered; // bytes of the slab that came; 0 if there is none
    private long limit;
    private long obtained;

    SimSlabs(Simulation simulation, SimMemory memory) {
        this.simulation = simulation;
        this.memory = memory;
    }

    /**
     * Begins anew.
     *
     * @param most bytes of all slabs; the first ones are not refused
     * @param sharedBytes of the region that slabs are pieces of, 0 for none; a slab that does not fit is a region of
     *     its own
     */
    void reset(int refuseOneIn, long most, int sharedBytes) {
        delays = 0;
        awaited = false;
        came = false;
        slabs.clear();
        regions.clear();
        refuses = refuseOneIn;
        limit = most;
        obtained = 0;
        shared = sharedBytes == 0 ? null : memory.register(sharedBytes);
    }

    /** Makes the source sometimes not ready; {@code newLate} then tells the connection, between two calls of these. */
    void delay(int oneIn, Actor newLate) {
        delays = oneIn;
        late = newLate;
    }

    @Override
    public boolean isReady(int bytes, int least, boolean remote) {
        boolean ready = came && !taken
                ? offered == 0 || isOffered(bytes, least)
                : !awaited && (delays == 0 || !simulation.chance.oneIn(delays));
        if (ready) {
            return true;
        }
        wished = bytes;
        leastWished = least;
        awaited = true;
        late.wake();
        return false;
    }

    private boolean isOffered(int bytes, int least) {
        return offered >= least && offered <= bytes;
    }

    /**
     * Makes the source ready until this is called with false: to give what was asked for once, if it still fits, or to
     * refuse.
     */
    void came(boolean now) {
        came = now;
        taken = false;
        awaited &= !now;
        offered = now ? grantedOf(wished, leastWished) : 0;
    }

    /** Returns the bytes that there are for a slab, 0 for none. */
    private int grantedOf(int bytes, int least) {
        int length = bytes;
        if (refuses > 0) {
            if (simulation.chance.oneIn(refuses)) {
                return 0;
            }
            if (simulation.chance.oneIn(refuses)) {
                length = simulation.chance.between(least, bytes);
            }
        }
        return obtained + length > limit ? 0 : length;
    }

    @Override
    public Slab obtain(int bytes, int least, boolean remote) {
        if (came && !taken) {
            return isOffered(bytes, least) ? make(offered) : null;
        }
        int length = grantedOf(bytes, least);
        return length == 0 ? null : make(length);
    }

    Slab make(int length) {
        taken = true;
        long at = shared == null ? -1 : place(length);
        SimMemory.Region region = at < 0 ? memory.register(length) : shared;
        Slab slab = new Slab(at < 0 ? region.base : at, length, region.localKey(), region.remoteKey());
        slabs.add(slab);
        regions.add(region);
        obtained += length;
        return slab;
    }

    /** Returns a free place in the shared region, right behind another slab if possible; -1 if there is none. */
    private long place(int length) {
        for (int i = slabs.size() - 1; i >= -1; i--) {
            if (i < 0 || regions.get(i) == shared) {
                long start = i < 0
                        ? shared.base
                        : slabs.get(i).address() + slabs.get(i).length();
                if (isFree(start, length)) {
                    return start;
                }
            }
        }
        return -1;
    }

    private boolean isFree(long start, int length) {
        for (int i = 0; i < slabs.size(); i++) {
            Slab other = slabs.get(i);
            long end = other.address() + other.length();
            if (regions.get(i) == shared && start < end && other.address() < start + length) {
                return false;
            }
        }
        return start + length <= shared.base + shared.length;
    }

    /** Returns the bytes of all slabs. */
    long obtained() {
        return obtained;
    }

    @Override
    public void release(Slab slab) {
        int at = slabs.indexOf(slab);
        if (at < 0) {
            throw simulation.failure("a slab is given back twice: " + slab);
        }
        free(at);
    }

    private void free(int at) {
        SimMemory.Region region = regions.get(at);
        Slab slab = slabs.get(at);
        obtained -= slab.length();
        if (region == shared) {
            memory.release(region, slab.address(), slab.length());
        } else {
            memory.deregister(region);
        }
        int last = slabs.size() - 1;
        slabs.set(at, slabs.get(last));
        regions.set(at, regions.get(last));
        slabs.remove(last);
        regions.remove(last);
    }

    /** Frees all slabs, when the queue pair is gone and nothing is lent. */
    void freeAll() {
        while (!slabs.isEmpty()) {
            free(slabs.size() - 1);
        }
        if (shared != null) {
            memory.deregister(shared);
        }
    }
}
