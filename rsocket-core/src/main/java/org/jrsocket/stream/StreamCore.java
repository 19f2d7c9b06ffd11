/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import org.jrsocket.protocol.Connection;
import org.jrsocket.protocol.Effects;
import org.jrsocket.protocol.Inbound;
import org.jrsocket.protocol.Outbound;
import org.jrsocket.protocol.Pump;
import org.jrsocket.protocol.SendLimits;
import org.jrsocket.protocol.SendMemory;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.wire.ConnData;

/**
 * The protocol's {@link Connection} of a stream, its one lock, and the state of the stream. A thread that does anything
 * with it first {@linkplain #enter enters}, which takes the lock, and then {@linkplain #exit exits}, which wakes those
 * whose wait is over and makes sure that what is left to be sent is looked after. The lock is held for posts, polls and
 * short copies, never for a wait. Three things are done without it: a reader polls in native code, reader and writer
 * make long copies ({@link #readerInside} and {@link #writerInside} say that they are there), and memory is registered.
 */
final class StreamCore {

    /** Bits of {@link #ready}. */
    static final int READABLE = 1;

    static final int WRITABLE = 2;
    static final int ACKNOWLEDGED = 4;

    /** The value of {@link #awaitedOffset} if no offset is awaited. */
    private static final long NONE = -1;

    private final PatientLock lock = new PatientLock();
    final RdmaTransport transport;
    final Endpoint endpoint;
    final InetSocketAddress local;
    final InetSocketAddress remote;
    final VerbsQueues queues;
    final Connection connection;
    final Inbound in;
    final Outbound out;
    private final RdmaStream stream;
    private final Pump pump;
    private final StreamWaiter waits;
    private final StreamLeftover leftover;
    private final KeepAlive keepAlive;
    private final int worthWriting; // bytes of room for which a waiting writer continues
    private final StreamEffects effects;
    private final FloodBudget flood = new FloodBudget();

    // Guarded by lock.
    /** Goes on by {@link #advanceTo}; only a close that could not begin takes {@link Phase#RELEASING} back. */
    Phase phase = Phase.IN_USE;

    boolean readerInside;
    boolean writerInside;
    /** The set that its receive queue is in, or null. */
    PollSet pollSet;
    /** How many {@link BorrowedBytes} have not been given back yet. */
    int borrowed;

    boolean closed;
    boolean inputShut;
    boolean outputShut;
    /** The peer has said that no more data comes; data that came before may be unread. */
    boolean ended;
    /** The peer or its CM has sent DISCONNECT: what we send reaches nobody. */
    boolean peerGone;

    boolean resetting; // DISCONNECT waits for nothing that was written
    boolean protocolBroken;
    private long awaitedOffset = NONE; // a thread waits until everything before it is acknowledged
    SocketException failure;
    boolean failedAfterEnd;
    private int noted; // effects that others may be waiting for
    long discarded; // bytes that arrived and were dropped, because nobody reads any more
    boolean pipeBroken; // a write was dropped because nobody reads any more, or its writer was told
    final Stalls stalls = new Stalls(this);
    final Growth growth = new Growth(this);
    final StreamSweep sweep;

    private volatile int ready;

    StreamCore(
            RdmaStream stream,
            RdmaTransport transport,
            Endpoint endpoint,
            ConnData peer,
            InetSocketAddress local,
            InetSocketAddress remote) {
        this.stream = stream;
        this.transport = transport;
        this.endpoint = endpoint;
        this.local = local;
        this.remote = remote;
        int credits = endpoint.credits();
        int perMessage = endpoint.words == null ? 1 : 2;
        SendLimits limits =
                SendLimits.standard(endpoint.sendSlots, perMessage, SendBatch.MAX_SGE, endpoint.inlineLimit);
        this.out = new Outbound(limits, peer, Bundle.TABLE_ENTRIES, credits);
        this.in = new Inbound(
                peer, Bundle.TABLE_ENTRIES, credits, endpoint.firstReceive, endpoint.config.mostReceiveMemory());
        this.connection = new Connection(
                in,
                out,
                new SendMemory(endpoint.firstSend, endpoint.config.mostSendMemory()),
                endpoint.slabs,
                new NativeGrantTable(endpoint.grantTable));
        this.queues = new VerbsQueues(endpoint, peer.isBigEndian());
        this.pump = new Pump(connection, queues, endpoint.receiveSlots);
        this.effects = new StreamEffects(this, pump, peer.hasFeature(ConnData.FEATURE_RESET));
        this.leftover = new StreamLeftover(this);
        this.waits = new StreamWaiter(this, transport.serviceThread());
        this.worthWriting = Math.min(endpoint.config.mostSendMemory() / 4, SendLimits.MAX_MESSAGE);
        this.keepAlive = new KeepAlive(transport.service(), this::probePeer);
        this.sweep = new StreamSweep(this);
    }

    /** Begins work on the established connection. */
    void open() {
        enter();
        try {
            int opened = connection.open();
            effects.handle(opened | pump.flush());
        } catch (RuntimeException | Error e) { // the caller frees what it stands on; nobody may use that
            phase = Phase.FREED;
            throw e;
        } finally {
            exit();
        }
    }

    StreamWaiter waits() {
        return waits;
    }

    KeepAlive keepAlive() {
        return keepAlive;
    }

    StreamEffects effects() {
        return effects;
    }

    // ---- in and out ----

    void enter() {
        lock.lock();
    }

    /** Leaves the stream, after anything was done with it. */
    void exit() {
        assert lock.isHeld();
        if (lock.holds() > 1) {
            lock.unlock();
            return;
        }
        boolean add = leftover.toBeListed();
        int now = readiness();
        if (now != ready) {
            ready = now;
        }
        int news = noted;
        noted = 0;
        Runnable words = Effects.has(news, Effects.FAILED | Effects.VIOLATION) ? effects.takePendingLog() : null;
        boolean grows = growth.isToBegin();
        lock.unlock();
        try {
            if (add) {
                transport.leftovers().add(leftover);
            }
            if (news != Effects.NONE) {
                waits.progressed();
            }
            if (words != null) {
                words.run();
            }
        } finally {
            if (grows) {
                growth.begin();
            }
        }
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
        return memory.totalRoom() >= worthWriting && (memory.room() > 0 || !growth.isRefused());
    }

    /** Called with the lock held. */
    void awaitAcknowledged(long offset) {
        awaitedOffset = offset;
    }

    /** Returns the bytes that fit into {@link Connection#sendMemory} in one piece; 0 if the writer has to wait. */
    int writeRoom() {
        SendMemory memory = connection.sendMemory();
        if (memory.wanted() > 0 && !(leftover.isStreaming() && memory.isSmallForAStream())) {
            poll(); // if something is acknowledged by now, no memory need be added
        }
        return growth.writeRoom();
    }

    /** Returns whether {@code n} bytes may go out now, by a copy to {@link #nextBytes} and {@link #writeNow}. */
    boolean mayWriteNow(int n) {
        if (n > StreamReader.SHORT_COPY) {
            return false;
        }
        if (!pump.mayWriteNow(n)) {
            effects.handle(pump.pollIfBusy());
            if (!pump.mayWriteNow(n)) {
                return false;
            }
        }
        return leftover.goesAtOnce();
    }

    /** Returns where {@code n} bytes that go out at once are copied to, from {@link #nextOffset} on. */
    ByteBuffer nextBytes(int n) {
        return pump.isInline(n)
                ? queues.payload()
                : ((RegisteredSlab) connection.sendMemory().slab()).bytes;
    }

    int nextOffset(int n) {
        return pump.isInline(n) ? 0 : connection.sendMemory().filled();
    }

    /** Sends the bytes copied there. */
    void writeNow(int n) {
        effects.handle(pump.isInline(n) ? pump.writeInline(queues.payloadAddress(), n) : pump.writeCopied(n));
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
        effects.handle(step);
        boolean isClosing = closed || phase.isReleasing(); // a close has a budget of its own
        if (!isClosing && flood.isDue(in.idleMessages()) && flood.isSpent(in.idleMessages(), System.nanoTime())) {
            effects.violated("more than " + FloodBudget.MESSAGES + " messages without content in a second");
        }
        if (leftover.isCollected()) {
            flush();
        }
        stalls.look();
    }

    void flush() {
        if (phase.isFreed()) {
            return;
        }
        leftover.collectedNoMore();
        effects.handle(pump.flush());
        stalls.look();
    }

    /** Acts on a step that may have made something to send. */
    void act(int step) {
        if (Effects.has(step, Effects.SEND)) {
            flush();
        }
        effects.handle(step & ~Effects.SEND);
    }

    /** Arms the queues, so that whatever comes next raises an event, and polls for what came before. */
    void armAndPoll(boolean sends) {
        if (phase.isFreed()) {
            return;
        }
        handle(pump.arm(sends));
        if (sends && (!hasRoom() || awaitedOffset != NONE && out.acknowledged() < awaitedOffset)) {
            leftover.askForRoom();
        }
        handle(pump.leave());
    }

    /** Enters like {@link #enter}, unless another thread has the lock. */
    boolean tryEnter() {
        return lock.tryLock();
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
        leftover.collectedNoMore();
        if (!phase.isFreed()) { // otherwise they may already belong to another connection
            queues.clear();
        }
        stalls.look();
    }

    /** Notes what a step has brought, since others may be waiting for it. Called with the lock held. */
    void note(int step) {
        noted |= step;
        if (Effects.has(step, Effects.ACKNOWLEDGED)) {
            growth.retry();
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

    StreamLeftover leftover() {
        return leftover;
    }

    RdmaStream stream() {
        return stream;
    }
}
