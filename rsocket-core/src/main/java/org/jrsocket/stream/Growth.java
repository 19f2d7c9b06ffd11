/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import org.jrsocket.protocol.SendMemory;

/**
 * The growth of a stream's memory. Registering memory is a call of the kernel, which takes a minute if the device's
 * firmware hangs. So it is made without the stream's lock: by the thread that needs the memory, or by a reaper if that
 * is the service thread. Meanwhile others use the stream, and close it. Guarded by the core's lock, unless stated
 * otherwise.
 */
final class Growth {

    private final StreamCore core;

    private boolean underWay; // a thread registers receive memory; there is one at a time
    private int bytes; // what it registers
    private int least;
    private boolean refused; // send memory is full, and no more was available

    Growth(StreamCore core) {
        this.core = core;
    }

    // ---- send memory ----

    /**
     * Returns the bytes that the writer inside can write in one piece, after adding memory if need be; 0 if it has to
     * wait. The lock may have been released in between.
     */
    int writeRoom() {
        SendMemory memory = core.connection.sendMemory();
        int room;
        Slabs slabs = core.endpoint.slabs;
        if (memory.wanted() > 0 && slabs.mustRegister(memory.wanted(), 1, false)) {
            int wanted = memory.wanted();
            RegisteredSlab slab = null;
            core.exit();
            try {
                slab = slabs.register(wanted, 1, false);
            } finally {
                core.enter();
                slabs.offer(slab);
            }
            room = core.connection.writeRoom();
            slabs.withdraw();
        } else {
            room = core.connection.writeRoom();
        }
        refused = room == 0 && memory.wanted() > 0;
        return room;
    }

    /** Returns whether a writer has found that there is no more memory. */
    boolean isRefused() {
        return refused;
    }

    /** Lets writers ask again. */
    void retry() {
        refused = false;
    }

    // ---- receive memory ----

    /** Returns whether the caller has to {@link #begin}, once it has released the lock. */
    boolean isToBegin() {
        return core.endpoint.slabs.isWished() && !underWay && takeWish();
    }

    private boolean takeWish() {
        Slabs slabs = core.endpoint.slabs;
        underWay = slabs.isWished() && !core.phase.isFreed();
        bytes = slabs.wished();
        least = slabs.leastWished();
        slabs.forgetWish();
        return underWay;
    }

    /** Registers what is wanted. Called without the lock. */
    void begin() {
        if (core.transport.serviceThread().isCurrent()) {
            core.transport.reapers.reap(core.endpoint.device, this::register);
        } else {
            register();
        }
    }

    /** Called without the lock, by one thread. */
    private void register() {
        boolean more;
        do {
            more = install(core.endpoint.slabs.register(bytes, least, true));
        } while (more);
    }

    /** Makes use of a slab, or of the fact that there is none. Returns whether another one is wanted. */
    private boolean install(RegisteredSlab slab) {
        Slabs slabs = core.endpoint.slabs;
        core.enter();
        try {
            underWay = false; // also after an error
            if (core.phase.isFreed()) {
                return false; // the slab is freed with the rest
            }
            slabs.forgetWish(); // if it is still there, it is wished again
            slabs.offer(slab);
            core.act(core.connection.memoryCame());
            slabs.withdraw();
            return slabs.isWished() && takeWish();
        } finally {
            core.exit();
        }
    }
}
