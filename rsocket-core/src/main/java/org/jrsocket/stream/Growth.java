/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import org.jrsocket.endpoint.RegisteredSlab;
import org.jrsocket.endpoint.Slabs;
import org.jrsocket.protocol.SendMemory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The growth of a stream's memory. Registering memory is a call of the kernel, which takes a minute if the device's
 * firmware hangs. So it is made without the stream's lock: by the thread that needs the memory, or by a reaper if that
 * is the service thread. Meanwhile others use the stream, and close it. Guarded by the core's lock, unless stated
 * otherwise.
 */
final class Growth {

    private static final Logger LOG = LoggerFactory.getLogger(Growth.class);

    private final StreamCore core;

    private boolean underWay; // a thread registers receive memory; there is one at a time
    private int bytes; // what it registers
    private int least;

    Growth(StreamCore core) {
        this.core = core;
    }

    // ---- send memory ----

    /**
     * Returns the bytes that the writer inside can write in one piece, after adding memory if need be; 0 if it has to
     * wait. The lock may have been released in between.
     *
     * @param streaming whether much was written since anything was last read
     */
    int writeRoom(boolean streaming) {
        SendMemory memory = core.connection.sendMemory();
        if (memory.wanted() > 0 && !(streaming && memory.isSmallForAStream())) {
            core.poll(); // if something is acknowledged by now, no memory need be added
        }
        Slabs slabs = core.endpoint.slabs();
        int wanted = memory.wanted();
        if (wanted > 0 && slabs.mustRegister(wanted, 1, false)) {
            RegisteredSlab slab = null;
            core.exit();
            try {
                slab = slabs.register(wanted, 1, false);
            } finally {
                core.enter();
            }
            if (slab != null) { // even if there is room by now: the writer would run out of it again
                core.connection.addSendMemory(slab);
            }
        }
        int room = core.connection.writeRoom();
        core.sendMemoryRefused = room == 0 && memory.wanted() > 0;
        return room;
    }

    // ---- receive memory ----

    /** Returns whether the caller has to {@link #begin}, once it has released the lock. */
    boolean isToBegin() {
        Slabs slabs = core.endpoint.slabs();
        if (!slabs.isWished() || underWay) {
            return false;
        }
        bytes = slabs.wished();
        least = slabs.leastWished();
        slabs.forgetWish();
        underWay = !isOver();
        return underWay;
    }

    /** Registers what is wanted, if anything, on behalf of the reader inside. The lock may be released meanwhile. */
    void grow() {
        if (core.endpoint.slabs().isWished()) {
            core.exit(); // begins
            core.enter();
        }
    }

    /**
     * Returns whether no more memory is of use. While a closed stream has data left, its peer may be closed, too, and
     * wait for a grant.
     */
    private boolean isOver() {
        boolean ended = core.closed && core.out.posted() == core.out.written();
        return ended || core.failure != null || core.phase.isFreed();
    }

    /** Registers what is wanted. Called without the lock, after something that has succeeded: so it throws nothing. */
    void begin() {
        if (!core.services.loops.isCurrent()) {
            register();
            return;
        }
        try {
            core.services.reapers.reap(core.endpoint.device(), this::register);
        } catch (RuntimeException | Error e) {
            giveUp(e);
        }
    }

    /** Called without the lock, by one thread. */
    private void register() {
        try {
            boolean more;
            do {
                more = install(core.endpoint.slabs().register(bytes, least, true));
            } while (more);
        } catch (RuntimeException | Error e) {
            giveUp(e);
        }
    }

    /** Makes use of a slab, or of the fact that there is none. Returns whether another one is wanted. */
    private boolean install(RegisteredSlab slab) {
        Slabs slabs = core.endpoint.slabs();
        core.enter();
        try {
            slabs.forgetWish(); // if it is still there, it is wished again
            if (!isOver()) { // otherwise the slab is freed with the rest
                slabs.offer(slab);
                try {
                    core.act(core.connection.memoryCame());
                } finally {
                    slabs.withdraw();
                }
            }
            underWay = false;
            return isToBegin();
        } finally {
            core.exit();
        }
    }

    /** Goes on with what there is, after an error; what is wanted later is tried again. */
    private void giveUp(Throwable cause) {
        try {
            install(null); // grants the peer again what it has filled: nothing else may ever come
        } catch (RuntimeException | Error e) {
            abandon();
        }
        try {
            LOG.warn(
                    "{} to {} over {} goes on with the memory that it has, because adding some has failed",
                    core.local,
                    core.remote,
                    core.endpoint.device().name(),
                    cause);
        } catch (RuntimeException | Error e) {
            // a logger that fails or lacks memory is no reason for a read or a write to fail
        }
    }

    private void abandon() {
        core.enter();
        try {
            core.endpoint.slabs().forgetWish();
            underWay = false;
        } finally {
            core.exit();
        }
    }
}
