/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.net.InetSocketAddress;
import java.net.SocketException;
import org.jrsocket.endpoint.Bundle;
import org.jrsocket.endpoint.Endpoint;
import org.jrsocket.endpoint.VerbsQueues;
import org.jrsocket.protocol.Connection;
import org.jrsocket.protocol.Effects;
import org.jrsocket.protocol.Inbound;
import org.jrsocket.protocol.Outbound;
import org.jrsocket.protocol.Pump;
import org.jrsocket.protocol.SendLimits;
import org.jrsocket.protocol.SendMemory;
import org.jrsocket.threads.PatientLock;
import org.jrsocket.wire.ConnData;

/**
 * The protocol's {@link Connection} of a stream, its one lock, and the state of the stream: what all parts of a stream
 * work on. The {@code StreamDriver} puts these parts together, and has them act on what the protocol brings.
 *
 * <p>A thread that does anything with it first {@linkplain #enter enters}, which takes the lock, and then
 * {@linkplain #exit exits}, which wakes those whose wait is over and makes sure that what is left to be sent is looked
 * after. The lock is held for posts, polls and short copies, never for a wait. Three things are done without it: a
 * reader polls in native code, reader and writer make long copies ({@link #readerInside} and {@link #writerInside} say
 * that they are there), and memory is registered.
 */
abstract class StreamCore {

    /** A set of streams that are polled together. */
    interface Polled {

        /** Removes a stream before its queues are freed. Called with its lock held. */
        void remove(StreamCore stream);
    }

    /** Bits of {@link #ready}. */
    static final int READABLE = 1;

    static final int WRITABLE = 2;
    static final int ACKNOWLEDGED = 4;

    /** The value of {@link #awaitedOffset} if no offset is awaited. */
    private static final long NONE = -1;

    private final PatientLock lock = new PatientLock();
    final Services services;
    final Endpoint endpoint;
    final StreamConfig config;
    final InetSocketAddress local;
    final InetSocketAddress remote;
    final VerbsQueues queues;
    final Connection connection;
    final Inbound in;
    final Outbound out;
    final Pump pump;
    final KeepAlive keepAlive;
    final Stalls stalls; // guarded by lock
    private final int worthWriting; // bytes of room for which a waiting writer continues
    private final FloodBudget flood = new FloodBudget();

    // Guarded by lock.
    /** Goes on by {@link #advanceTo}; only a close that could not begin takes {@link Phase#RELEASING} back. */
    Phase phase = Phase.IN_USE;

    boolean readerInside;
    boolean writerInside;
    /** The set that its receive queue is in, or null. */
    Polled pollSet;
    /** How many pieces of borrowed memory have not been given back yet. */
    int borrowed;

    boolean closed;
    boolean inputShut;
    boolean outputShut;
    /** The peer has said that no more data comes; data that came before may be unread. */
    boolean ended;
    /** The peer or its CM has sent DISCONNECT: what we send reaches nobody. */
    boolean peerGone;

    /** Something is written, and left for the next write to take along; no event will send it. */
    boolean collected;

    boolean sendMemoryRefused; // it is full, and a writer has found that there is no more
    boolean resetting; // DISCONNECT waits for nothing that was written
    boolean protocolBroken;
    private long awaitedOffset = NONE; // a thread waits until everything before it is acknowledged
    SocketException failure;
    boolean failedAfterEnd;
    private int noted; // effects that others may be waiting for
    long discarded; // bytes that arrived and were dropped, because nobody reads any more
    boolean pipeBroken; // a write was dropped because nobody reads any more, or its writer was told

    private volatile int ready;

    StreamCore(
            Services services,
            Endpoint endpoint,
            StreamConfig config,
            ConnData peer,
            InetSocketAddress local,
            InetSocketAddress remote) {
        this.services = services;
        this.endpoint = endpoint;
        this.config = config;
        this.local = local;
        this.remote = remote;
        int credits = endpoint.credits();
        this.out = new Outbound(endpoint.sendLimits(), peer, Bundle.TABLE_ENTRIES, credits);
        this.in = new Inbound(peer, Bundle.TABLE_ENTRIES, credits, endpoint.firstReceive(), config.mostReceiveMemory());
        this.connection = new Connection(
                in,
                out,
                new SendMemory(endpoint.firstSend(), config.mostSendMemory()),
                endpoint.slabs(),
                endpoint.grantTable());
        this.queues = new VerbsQueues(endpoint, peer.isBigEndian());
        this.pump = new Pump(connection, queues, endpoint.receiveSlots());
        this.worthWriting = Math.min(config.mostSendMemory() / 4, SendLimits.MAX_MESSAGE);
        this.keepAlive = new KeepAlive(services.service, this::probePeer);
        this.stalls = new Stalls(out, local, remote, endpoint.device().name());
    }

    /** Begins work on the established connection. */
    void open() {
        enter();
        try {
            int opened = connection.open();
            react(opened | pump.flush());
        } catch (RuntimeException | Error e) { // the caller frees what it stands on; nobody may use that
            phase = Phase.FREED;
            throw e;
        } finally {
            exit();
        }
    }

    // ---- what the driver does ----

    /** Acts on what a step has brought. Called with the lock held. */
    abstract void react(int effects);

    /** Called, with the lock held, when the peer sent what the protocol allows, but no peer has a reason to send. */
    abstract void violated(String what);

    /** Leaves the stream, after anything was done with it. */
    abstract void exit();

    // ---- in and out ----

    void enter() {
        lock.lock();
    }

    /** Enters like {@link #enter}, unless another thread has the lock. */
    boolean tryEnter() {
        return lock.tryLock();
    }

    /** Returns whether a thread that leaves is inside because of an outer call, too. */
    boolean isNested() {
        assert isHeld();
        return lock.holds() > 1;
    }

    void unlock() {
        lock.unlock();
    }

    /** Makes {@link #isReady} known, and returns what has been {@linkplain #note noted}, once. */
    int takeNews() {
        int now = readiness();
        if (now != ready) {
            ready = now;
        }
        int news = noted;
        noted = 0;
        return news;
    }

    boolean isHeld() {
        return lock.isHeld();
    }

    void advanceTo(Phase next) {
        assert isHeld() && next.compareTo(phase) > 0 : next;
        phase = next;
    }

    private int readiness() {
        int awaited = awaitedOffset == NONE ? 0 : ACKNOWLEDGED;
        if (failure != null || closed) {
            return READABLE | WRITABLE | awaited;
        }
        return (awaited != 0 && (peerGone || out.acknowledged() >= awaitedOffset) ? ACKNOWLEDGED : 0)
                | (in.readable() > 0 || ended || inputShut ? READABLE : 0)
                | (outputShut || peerGone || hasRoom() ? WRITABLE : 0);
    }

    /** Returns whether a waiting writer should continue: not for every byte, which would make tiny messages. */
    private boolean hasRoom() {
        SendMemory memory = connection.sendMemory();
        return memory.totalRoom() >= worthWriting && (memory.room() > 0 || !sendMemoryRefused);
    }

    /** Called with the lock held. */
    void awaitAcknowledged(long offset) {
        awaitedOffset = offset;
    }

    /** Returns whether a read or a write would find something to do. Any thread may ask, without the lock. */
    boolean isReady(int bit) {
        return (ready & bit) != 0;
    }

    /** Answers like {@link #isReady}, with the lock: from what is known now, even before others are told. */
    boolean isReadyNow(int bit) {
        assert isHeld();
        return (readiness() & bit) != 0;
    }

    // ---- progress, with the lock ----

    /** Takes what has arrived and sends what can be sent. */
    void poll() {
        if (!phase.isFreed()) {
            handle(pump.poll());
        }
    }

    /** Polls like {@link #poll}, for a reader, to which the completion of sends does not matter. */
    void pollMessages() {
        if (!phase.isFreed()) {
            handle(pump.pollMessages());
        }
    }

    private void handle(int step) {
        react(step);
        boolean isClosing = closed || phase.isReleasing(); // a close has a budget of its own
        if (!isClosing && flood.isDue(in.idleMessages()) && flood.isSpent(in.idleMessages(), System.nanoTime())) {
            violated("more than " + FloodBudget.MESSAGES + " messages without content in a second");
        }
        if (collected) {
            flush();
        }
        stalls.look();
    }

    void flush() {
        if (phase.isFreed()) {
            return;
        }
        collected = false;
        react(pump.flush());
        stalls.look();
    }

    /** Acts on a step that may have made something to send. */
    void act(int step) {
        if (Effects.has(step, Effects.SEND)) {
            flush();
        }
        react(step & ~Effects.SEND);
    }

    /** Arms the queues, so that whatever comes next raises an event, and polls for what came before. */
    void armAndPoll(boolean sends) {
        if (phase.isFreed()) {
            return;
        }
        handle(pump.arm(sends));
        if (sends && (!hasRoom() || awaitedOffset != NONE && out.acknowledged() < awaitedOffset)) {
            askForRoom();
        }
        handle(pump.leave());
    }

    /** Asks the peer's device for a sign of life, by an empty write, which the device acknowledges on its own. */
    void probePeer() {
        enter();
        try {
            if (!phase.isFreed() && !closed) {
                poll(); // on an idle stream nothing else polls, and earlier probes would fill the queue
                out.probe();
                flush();
            }
        } finally {
            exit();
        }
    }

    /** Drops what nobody will read. If a reader is inside, it does this when it leaves. */
    void discardInput() {
        if (inputShut && !readerInside && !phase.isFreed() && in.readable() > 0) {
            discarded += in.readable();
            act(connection.consume(in.readable()));
        }
    }

    /** Returns the bytes that readers have had. Called with the lock held. */
    long bytesRead() {
        return in.consumed() - discarded;
    }

    /** Stops sending for good. Called with the lock held. */
    void die() {
        connection.sendFailed();
        collected = false;
        if (!phase.isFreed()) { // otherwise they may already belong to another connection
            queues.clear();
        }
        stalls.look();
    }

    /** Notes what a step has brought, since others may be waiting for it. Called with the lock held. */
    void note(int step) {
        noted |= step;
        if (Effects.has(step, Effects.ACKNOWLEDGED)) {
            sendMemoryRefused = false; // writers may ask again
        }
    }

    /** Returns whether the peer has sent unread data, or the end of the stream. May be called from any thread. */
    boolean hasInput() {
        enter();
        try {
            return in.readable() > 0 || ended;
        } finally {
            exit();
        }
    }

    void ensureOpen() throws SocketException {
        if (closed) {
            throw new SocketException("Socket closed");
        }
    }

    /** Returns whether something waits to be sent. */
    boolean hasLeftover() {
        return !phase.isFreed() && (collected || connection.hasLeftover());
    }

    /**
     * Makes the device report what became of what was posted, if nothing has asked it to: it need not report small
     * copies until memory is full. For a thread that waits for room while memory is not quite full, or for an
     * acknowledgement.
     */
    private void askForRoom() {
        if (out.acknowledged() != out.posted() && !out.awaitsCompletion()) {
            out.probe();
            flush();
        }
    }

    @Override
    public String toString() {
        return local + " to " + remote + " over " + endpoint.device().name();
    }
}
