/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

/**
 * Frees what a stream has, on a reaper: first the queue pair and the registrations of lent memory, then the
 * rest, once all borrowed bytes were given back.
 */
final class StreamFreeing implements Runnable {

    private final StreamCore core;
    private final StreamWaiter waits;
    private final Runnable whenGone;

    // Guarded by the core's lock.
    private boolean waitsForBorrowed; // the memory stays until they are given back
    private boolean reusable;
    private boolean unheard;
    private Runnable whenSendsAreOver;

    StreamFreeing(StreamCore core, StreamWaiter waits, Runnable whenGone) {
        this.core = core;
        this.waits = waits;
        this.whenGone = whenGone;
    }

    /** See {@code RdmaStream.whenSendsAreOver}. */
    void whenSendsAreOver(Runnable action) {
        core.enter();
        try {
            if (!core.phase.areSendsOver()) {
                whenSendsAreOver = action;
                return;
            }
        } finally {
            core.exit();
        }
        action.run();
    }

    /**
     * Ends the sends at once, which also keeps the peer from writing into what the application still reads. What was
     * sent may hold bytes that were borrowed from this stream, or from one that waits for this one. The device may take
     * long, so the stream's lock is not held meanwhile.
     */
    @Override
    public void run() {
        core.enter();
        try {
            if (core.phase.isFreed()) {
                return;
            }
            waits.free();
            core.advanceTo(Phase.FREED);
            // Not for reuse: a stream that is freed before it is closed may still be in somebody's epoll set, and a
            // peer that broke the rules may have left anything.
            reusable = core.closed && !core.protocolBroken;
            unheard = isUnheard();
        } finally {
            core.exit();
        }
        try {
            core.endpoint.endSends();
        } finally {
            sendsAreOver();
        }
    }

    /** Makes the stream touch nothing that it stands on: it could not be made known, and the caller frees that. */
    void disown() {
        core.enter();
        try {
            core.advanceTo(Phase.FREED);
        } finally {
            core.exit();
        }
    }

    private void sendsAreOver() {
        Runnable action;
        boolean all;
        core.enter();
        try {
            core.advanceTo(Phase.SENDS_OVER);
            action = whenSendsAreOver;
            whenSendsAreOver = null;
            all = core.borrowed == 0;
            waitsForBorrowed = !all; // from now on the last to be given back frees the rest, perhaps in this action
        } finally {
            core.exit();
        }
        try {
            if (action != null) {
                action.run();
            }
        } finally {
            if (all) {
                freeMemory();
            }
        }
    }

    /** Frees the rest, once. */
    private void freeMemory() {
        try {
            if (unheard) {
                core.endpoint.free(reusable, id -> core.services.farewells.say(id, core.local.getAddress()));
                if (peerHasLeft()) {
                    core.services.farewells.heard(core.endpoint.id());
                }
            } else {
                core.endpoint.free(reusable);
            }
        } finally {
            gone();
        }
    }

    /** Returns whether only bytes that are still borrowed keep the stream from being freed. */
    boolean waitsForBorrowed() {
        core.enter();
        try {
            return waitsForBorrowed;
        } finally {
            core.exit();
        }
    }

    /** Called on any thread when the application has given back everything that it had borrowed. */
    void allGivenBack() {
        boolean free;
        core.enter();
        try {
            free = waitsForBorrowed && core.borrowed == 0;
            waitsForBorrowed &= !free;
        } finally {
            core.exit();
        }
        if (free) {
            core.services.reapers.reap(core.endpoint.device(), this::freeMemory);
        }
    }

    /** Called with the core's lock held. */
    long registeredBytes() {
        return core.phase.isFreed() && !waitsForBorrowed ? 0 : core.endpoint.registeredBytes();
    }

    private void gone() {
        core.enter();
        try {
            core.advanceTo(Phase.GONE);
        } finally {
            core.exit();
        }
        whenGone.run();
    }

    /** Returns whether the peer may not know of the end, and is about to be told. Called with the core's lock held. */
    boolean leavesUnheard() {
        return isUnheard() && !core.phase.isGone() && !waitsForBorrowed;
    }

    private boolean peerHasLeft() {
        core.enter();
        try {
            return core.peerGone;
        } finally {
            core.exit();
        }
    }

    private boolean isUnheard() {
        return core.queues.isUnheard() && !core.peerGone;
    }
}
