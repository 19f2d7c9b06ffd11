/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import org.jrsocket.wire.Imm;

/**
 * Moves a {@link Connection} along its {@link Queues}: takes completions, gives receives back, builds and posts.
 *
 * <p>One rule ensures that no wake-up is lost: a thread that used the connection leaves it as {@link #leave} does. If
 * something is left that could not be sent, the queues that will report progress are armed and polled once more; from
 * then on, whatever watches the queues continues. Arming twice is harmless, so nothing records which thread did it. A
 * thread that takes an event from the queues, which unarms them, polls and leaves in the same way. A driver may do all
 * this a little later, if it makes sure that it is done. A thread that waits {@linkplain #arm arms} and leaves.
 */
public final class Pump {

    /** The most slots that any one step of {@link Connection#build} takes: as many as a message does over iWARP. */
    private static final int MOST_SLOTS = SendLimits.END_SLOTS;

    private final Connection connection;
    private final Queues queues;
    private final int pollLimit;

    /**
     * Creates the pump of a connection.
     *
     * @param pollLimit the most messages taken at a time, so that a peer that floods us does not hold a thread; as many
     *     as there are receives, so that all is taken that was there when the queues were armed
     */
    public Pump(Connection connection, Queues queues, int pollLimit) {
        this.connection = connection;
        this.queues = queues;
        this.pollLimit = pollLimit;
    }

    /** Takes what has arrived, and sends what this allows; never waits. Returns what happened. */
    public int poll() {
        return take(connection.out().awaitsCompletion() ? pollSends() : Effects.NONE);
    }

    /**
     * Polls like {@link #poll}, but looks at completions of sends only if something waits for them. For readers, who
     * would pay for one more look into the device at every message.
     */
    public int pollMessages() {
        if (connection.out().needsCompletion()) {
            return poll();
        }
        return take(Effects.NONE);
    }

    /** Polls like {@link #poll}, but looks at both queues in any case: both were armed. See {@link Queues#arm}. */
    private int pollArmed() {
        return take(pollSends());
    }

    /**
     * Takes messages, and sends what they and the completions allow. A queue pair that fails gives its receives back,
     * which does not say why it failed. The request that caused the failure does, in the send queue, even if it had not
     * asked for a completion.
     *
     * @param sends what the completions have brought
     */
    private int take(int sends) {
        int effects = pollReceives();
        if (Effects.has(effects | sends, Effects.SEND | Effects.VIOLATION)) {
            effects |= flush();
        }
        boolean failed = Effects.has(effects, Effects.FAILED) && !Effects.has(effects, Effects.VIOLATION);
        return sends | (failed ? effects | pollSends() : effects);
    }

    private int pollReceives() {
        int effects = Effects.NONE;
        int left = pollLimit;
        int n;
        do {
            n = queues.pollReceives();
            for (int i = 0; i < n; i++) {
                int one = receive(i);
                effects |= one;
                if (Effects.has(one, Effects.FAILED)) {
                    return effects;
                }
            }
            left -= n;
            effects |= repost();
        } while (n >= queues.batch() && left > 0);
        return n < 0 ? effects | receiveFailed() : effects;
    }

    private int receive(int i) {
        if (!queues.isReceived(i)) {
            return receiveFailed();
        }
        if (!queues.isMessage(i)) {
            return violated();
        }
        int imm = queues.imm(i);
        int effects = Effects.NONE;
        if (imm == Imm.ctrl(Imm.CTRL_DISCONNECT) && connection.out().awaitsCompletion()) {
            effects = pollSends(); // what was acknowledged before the DISCONNECT counts; nothing counts after it
        }
        effects |= connection.received(imm, queues.length(i));
        return Effects.has(effects, Effects.VIOLATION) ? effects | violated() : effects;
    }

    /** A queue pair in error may take no receives (bnxt_re). What has arrived is still in its queue, before its end. */
    private int repost() {
        int count = connection.in().toRepost();
        if (count == 0) {
            return Effects.NONE;
        }
        return queues.postReceives(count) ? connection.reposted() : sendFailed();
    }

    private int pollSends() {
        int effects = Effects.NONE;
        int n;
        do {
            n = queues.pollSends();
            for (int i = 0; i < n; i++) {
                if (!queues.isSent(i)) {
                    return effects | sendFailed();
                }
                effects |= connection.sendCompleted();
            }
        } while (n >= queues.batch());
        return n < 0 ? effects | sendFailed() : effects;
    }

    /**
     * Returns whether a write of {@code length} bytes may go out in one request and at once, by {@link #writeInline} or
     * {@link #writeCopied}, because there is nothing to wait for. Most writes go this way, so it is worth bypassing the
     * list of what is to be sent.
     */
    public boolean mayWriteNow(int length) {
        return connection.mayWriteNow(queues, length);
    }

    /** Checks whether requests are complete if {@link #mayWriteNow} says no only because too many are on their way. */
    public int pollIfBusy() {
        return connection.out().isOnlyBusy() ? pollSends() : Effects.NONE;
    }

    /** Returns whether a request carries {@code length} bytes itself. */
    public boolean isInline(int length) {
        return connection.out().isInline(length);
    }

    /**
     * Sends bytes in one request, which the device takes in this call, so the memory is free again when it returns.
     * Only to be called if {@link #mayWriteNow} and {@link #isInline}.
     */
    public int writeInline(long address, int length) {
        connection.out().writeNow(queues, address, length, 0, false);
        return post();
    }

    /** Sends bytes copied to {@link SendMemory#next}. Only to be called if {@link #mayWriteNow} and not inline. */
    public int writeCopied(int length) {
        connection.writeCopied(queues, length);
        return post();
    }

    private int post() {
        return queues.post() ? Effects.NONE : sendFailed();
    }

    /**
     * Sends what can be sent. To be called after each write, shutdown and close, and after each read that granted
     * memory. If the send queue seems too busy for something, that is tried again after a look at its completions.
     */
    public int flush() {
        int effects = build();
        if (connection.out().waitsForCompletion() && !Effects.has(effects, Effects.FAILED)) {
            effects |= pollSends();
            effects |= build();
        }
        return effects;
    }

    private int build() {
        boolean again;
        do {
            again = connection.build(queues) > 0 && queues.room() < MOST_SLOTS; // otherwise all that may go was built
            if (!queues.post()) {
                return sendFailed();
            }
        } while (again);
        return Effects.NONE;
    }

    /**
     * Arms the queues for a thread that waits, so that whatever comes next raises an event, and takes what came before.
     * Returns what happened. {@link #leave} has to follow.
     *
     * @param sends whether completions of sends are waited for, too
     */
    public int arm(boolean sends) {
        if (sends) {
            queues.arm();
            return pollArmed();
        }
        queues.armReceives();
        return poll();
    }

    /**
     * Has to be called before the connection is left to itself; see the class. Returns what happened, which others may
     * be waiting for. {@link Connection#hasLeftover} says whether something is left for whatever watches the queues.
     */
    public int leave() {
        if (!connection.hasLeftover()) {
            return Effects.NONE;
        }
        queues.arm();
        return pollArmed() | flush();
    }

    private int violated() {
        connection.violated();
        return Effects.VIOLATION | Effects.FAILED;
    }

    private int receiveFailed() {
        connection.receiveFailed();
        return Effects.FAILED;
    }

    private int sendFailed() {
        connection.sendFailed(); // what has arrived is still in the receive queue, followed by that queue's own end
        return Effects.FAILED;
    }
}
