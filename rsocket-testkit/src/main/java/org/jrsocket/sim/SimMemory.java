/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import java.util.ArrayDeque;
import java.util.Arrays;

/**
 * The registered memory of one machine: byte arrays at made-up addresses. Every access by a device names a key, and is
 * checked against the region of that key; for memory that a peer writes, each byte has a state, which says who may use
 * it.
 */
final class SimMemory {

    /** Used by its owner only. */
    static final byte FREE = 0;
    /** The peer may write here. */
    static final byte GRANTED = 1;
    /** The peer has written, and the application has not read. */
    static final byte WRITTEN = 2;
    /** The application reads it in place. */
    static final byte LENT = 3;

    private static final int SLOT_SHIFT = 32; // a region begins at each multiple of 4 GiB, or a little above
    private static final int KEY_SLOT_BITS = 12;

    /** A region of registered memory. */
    static final class Region {
        final int slot;
        byte[] bytes = new byte[0];
        byte[] state = new byte[0];
        int length;
        long base;
        int generation;
        boolean live;
        boolean table; // for grants of the peer's

        Region(int slot) {
            this.slot = slot;
        }

        int localKey() {
            return generation << KEY_SLOT_BITS + 1 | slot << 1;
        }

        int remoteKey() {
            return localKey() | 1;
        }

        int at(long address) {
            return (int) (address - base);
        }
    }

    private final Simulation simulation;
    private final String name;
    private Region[] regions = new Region[16];
    private int count;
    private final ArrayDeque<Region> unused = new ArrayDeque<>();
    private long registered;
    private int generations;
    /** Whether each byte's state is kept; not where only time matters, or where the peer keeps no rules. */
    boolean watched;

    SimMemory(Simulation simulation, String name) {
        this.simulation = simulation;
        this.name = name;
    }

    /** Forgets all memory. */
    void reset(boolean watch) {
        unused.clear();
        for (int i = 0; i < count; i++) {
            regions[i].live = false;
        }
        count = 0; // the same places as in a new memory, so that a run does not depend on earlier ones
        registered = 0;
        generations = 0;
        watched = watch;
    }

    Region register(int length) {
        Region region = unused.poll();
        if (region == null) {
            if (count == regions.length) {
                regions = Arrays.copyOf(regions, count * 2);
            }
            if (regions[count] == null) {
                regions[count] = new Region(count);
            }
            region = regions[count++];
        }
        region.generation = ++generations & 0x3ffff;
        region.base = (region.slot + 1L << SLOT_SHIFT) + 0x1000L * (region.generation & 0xff);
        region.length = length;
        region.live = true;
        region.table = false;
        if (region.bytes.length < length) {
            region.bytes = new byte[length];
            region.state = new byte[length];
        } else {
            Arrays.fill(region.bytes, 0, length, (byte) 0);
            Arrays.fill(region.state, 0, length, FREE);
        }
        registered += length;
        if (simulation.tracing) {
            simulation.trace(name + " registers " + length + " bytes at " + text(region.base) + ", key "
                    + Integer.toHexString(region.remoteKey()));
        }
        return region;
    }

    void deregister(Region region) {
        if (!region.live) {
            throw simulation.failure(name + " frees memory at " + text(region.base) + " twice");
        }
        if (watched) {
            for (int i = 0; i < region.length; i++) {
                if (region.state[i] == LENT) {
                    throw simulation.failure(
                            name + " frees memory at " + text(region.base + i) + " that the application has borrowed");
                }
            }
        }
        if (simulation.tracing) {
            simulation.trace(name + " frees " + region.length + " bytes at " + text(region.base));
        }
        region.live = false;
        registered -= region.length;
        unused.add(region);
    }

    /** Returns the bytes registered now. */
    long registered() {
        return registered;
    }

    /** Returns what a program sees at an address; fails on memory that is not there. */
    Region region(long address, int length) {
        int slot = (int) (address >>> SLOT_SHIFT) - 1;
        if (slot < 0 || slot >= count || !inside(regions[slot], address, length)) {
            throw simulation.failure(
                    name + " touches " + length + " bytes at " + text(address) + ", which are not its own");
        }
        return regions[slot];
    }

    private static boolean inside(Region region, long address, int length) {
        return region.live && length >= 0 && address >= region.base && address - region.base + length <= region.length;
    }

    /** Returns what a device finds under a key; null if the access is to be refused. */
    Region find(long address, int length, int key) {
        int slot = key >>> 1 & (1 << KEY_SLOT_BITS) - 1;
        if (slot >= count) {
            return null;
        }
        Region region = regions[slot];
        return (key & ~1) == region.localKey() && inside(region, address, length) ? region : null;
    }

    // ---- the state of each byte ----

    /** Changes the state of bytes: each must be {@code from}, and becomes {@code to}. */
    void move(long address, int length, byte from, byte to, String what) {
        if (watched) {
            move(region(address, length), address, length, from, to, what);
        }
    }

    void move(Region region, long address, int length, byte from, byte to, String what) {
        if (!watched) {
            return;
        }
        int start = region.at(address);
        byte[] state = region.state;
        for (int i = start; i < start + length; i++) {
            if (state[i] != from) {
                throw simulation.failure(name + ": " + what + " of " + length + " bytes at " + text(address)
                        + ": the one at " + text(region.base + i)
                        + " is " + stateName(state[i]));
            }
            state[i] = to;
        }
    }

    /** Frees part of a region that stays registered. */
    void release(Region region, long address, int length) {
        int start = region.at(address);
        if (watched) {
            for (int i = start; i < start + length; i++) {
                if (region.state[i] == LENT) {
                    throw simulation.failure(name + " takes memory at " + text(region.base + i)
                            + " back that the application has borrowed");
                }
            }
        }
        if (simulation.tracing) {
            simulation.trace(name + " takes " + length + " bytes at " + text(address) + " back");
        }
        Arrays.fill(region.state, start, start + length, FREE);
        Arrays.fill(region.bytes, start, start + length, (byte) 0xee);
    }

    /** Ends the grant of bytes that were granted and not written. */
    void ungrant(long address, int length) {
        if (watched && length > 0) {
            move(address, length, GRANTED, FREE, "an end of a grant");
        }
    }

    static String stateName(byte state) {
        return switch (state) {
            case FREE -> "free";
            case GRANTED -> "granted to the peer";
            case WRITTEN -> "written and unread";
            default -> "lent to the application";
        };
    }

    static String text(long address) {
        return "0x" + Long.toHexString(address);
    }
}
