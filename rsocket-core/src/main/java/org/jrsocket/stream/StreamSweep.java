/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.concurrent.ThreadLocalRandom;

/**
 * Looks at a stream every few seconds for what nothing else would notice: that nothing has moved for some rounds, so
 * memory is given back, and that the device has been silent for many, so the connection has ended. Used on the service
 * thread, unless stated otherwise.
 */
final class StreamSweep {

    /** Rounds without movement after which a stream is quiet. */
    private static final int QUIET_ROUNDS = 2;

    /** Rounds after which a quiet stream that gives nothing back any more is left alone. */
    private static final int RESTFUL_ROUNDS = 2 * QUIET_ROUNDS;

    /** How often such a stream is looked at all the same: its peer may have granted it more since. */
    private static final int ROUNDS_AT_REST = 10;

    private final StreamCore core;
    private final StreamEffects effects;
    private final StreamClosing closing;
    private final DeviceSilence silence;
    private long movesSeen; // written with the core's lock held
    private long grownSeen; // bytes beyond the minimum
    private int idleRounds;
    private final int firstRoundAtRest = ThreadLocalRandom.current().nextInt(ROUNDS_AT_REST); // not all at once
    private int roundsAtRest = -1; // -1: not at rest
    private volatile Runnable whenQuiet = () -> {};

    StreamSweep(StreamCore core, StreamEffects effects, StreamClosing closing) {
        this.core = core;
        this.effects = effects;
        this.closing = closing;
        this.silence = new DeviceSilence(core.endpoint.device().isIwarp());
    }

    /** See {@code RdmaStream.whenQuiet}. */
    void whenQuiet(Runnable action) {
        whenQuiet = action;
    }

    /** Returns for how long the device has been {@linkplain DeviceSilence silent}. Called with the core's lock held. */
    long silentSeconds() {
        boolean looks = !core.phase.isFreed() && !core.peerGone && core.failure == null;
        return looks ? silence.seconds(core.out) : 0; // the last look was before the end
    }

    /**
     * One round. It does nothing if another thread is busy with the stream at this moment, or if the stream is at rest.
     *
     * @return whether the stream was entered
     */
    boolean look() {
        if (isLeftAlone() || !core.tryEnter()) {
            return false;
        }
        boolean stuck;
        boolean quiet;
        try {
            stuck = core.closed && !core.phase.isReleasing();
            long moves = moves();
            idleRounds = moves == movesSeen ? idleRounds + 1 : 0;
            movesSeen = moves;
            core.in.timePassed();
            boolean inUse = !core.phase.isFreed() && !core.closed;
            long grown = core.phase.isFreed() ? 0 : core.endpoint.slabs().grownBytes(); // else it is the reaper's
            boolean shrinks = grown != grownSeen;
            grownSeen = grown;
            quiet = idleRounds >= QUIET_ROUNDS && inUse && !core.writerInside;
            if (quiet) {
                core.pollMessages(); // takes what the peer gives back: on an idle stream nothing else does
                core.act(core.connection.quiet());
            }
            if (!core.phase.isFreed() && !core.peerGone && core.failure == null && core.out.awaitsCompletion()) {
                core.poll(); // on an idle stream nothing else does
                if (silence.look(core.out)) {
                    effects.silent(silence.seconds());
                }
            }
            boolean rests = quiet && idleRounds >= RESTFUL_ROUNDS && !shrinks && !core.out.awaitsCompletion();
            roundsAtRest = !rests ? -1 : roundsAtRest < 0 ? firstRoundAtRest : 0;
        } finally {
            core.exit();
        }
        if (stuck) { // a close is just beginning, or ran out of memory before anybody heard of it
            closing.begin();
        }
        if (quiet) {
            whenQuiet.run(); // without the lock, because it may wait for a thread that waits for that lock
        }
        return true;
    }

    /**
     * Whether this round passes the stream by. Called without the lock: for ten thousand idle connections each lock
     * would be memory that no processor has in its cache, and work for the garbage collector. What another thread is
     * doing at this moment is seen by the next round.
     */
    private boolean isLeftAlone() {
        boolean atRest = roundsAtRest >= 0 && moves() == movesSeen && !core.closed && !core.out.awaitsCompletion();
        return atRest && ++roundsAtRest < ROUNDS_AT_REST;
    }

    /** Acknowledgements count: with them memory becomes free that was in use the last time. */
    private long moves() {
        return core.in.consumed() + core.out.written() + core.out.acknowledged();
    }
}
