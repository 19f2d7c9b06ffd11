/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import java.util.ArrayList;
import java.util.List;
import org.jrsocket.protocol.Slab;
import org.jrsocket.protocol.SlabSource;

/** Where one end's slabs come from: not always as large as wanted, and not always any. */
final class SimSlabs implements SlabSource {

    private final Simulation simulation;
    private final SimMemory memory;
    private final List<Slab> slabs = new ArrayList<>();
    private final List<SimMemory.Region> regions = new ArrayList<>();
    private int refuses; // one in so many times; 0 for never
    private long limit;

    SimSlabs(Simulation simulation, SimMemory memory) {
        this.simulation = simulation;
        this.memory = memory;
    }

    /** @param most bytes that may be registered in all; the first slabs are not refused */
    void reset(int refuseOneIn, long most) {
        slabs.clear();
        regions.clear();
        refuses = refuseOneIn;
        limit = most;
    }

    @Override
    public Slab obtain(int bytes, boolean remote) {
        int length = bytes;
        if (refuses > 0) {
            if (simulation.chance.oneIn(refuses)) {
                return null;
            }
            if (simulation.chance.oneIn(refuses)) {
                length = simulation.chance.between(1, bytes);
            }
        }
        return memory.registered() + length > limit ? null : make(length);
    }

    Slab make(int length) {
        SimMemory.Region region = memory.register(length);
        Slab slab = new Slab(region.base, length, region.localKey(), region.remoteKey());
        slabs.add(slab);
        regions.add(region);
        return slab;
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
        memory.deregister(regions.get(at));
        int last = slabs.size() - 1;
        slabs.set(at, slabs.get(last));
        regions.set(at, regions.get(last));
        slabs.remove(last);
        regions.remove(last);
    }

    /** The queue pair is gone, and nothing is lent. */
    void freeAll() {
        while (!slabs.isEmpty()) {
            free(slabs.size() - 1);
        }
    }
}
