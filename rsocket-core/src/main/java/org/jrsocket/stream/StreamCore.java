/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.util.concurrent.locks.ReentrantLock;
import org.jrsocket.jfr.Events;
import org.jrsocket.protocol.Connection;
import org.jrsocket.protocol.Effects;
import org.jrsocket.protocol.Inbound;
import org.jrsocket.protocol.Outbound;
import org.jrsocket.protocol.Pump;
import org.jrsocket.protocol.SendMemory;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.wire.ConnData;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The protocol's {@link Connection} of a stream, its one lock, and the state of the stream. Whoever does anything with
 * it first {@linkplain #enter enters}, which takes the lock, and then {@linkplain #exit exits}, which wakes those whose
 * wait is over and makes sure that somebody looks after what is left to be sent. The lock is held for posts, polls and
 * short copies, never for a wait. Two things are done without it: a reader polls in native code, and reader and writer
 * make long copies; {@link #readerInside} and {@link #writerInside} say that they are there.
 */
final class StreamCore {

    private static final Logger LOG = LoggerFactory.getLogger(RdmaStream.class);

    /**
     * With so many requests on their way, small writes start to be collected: enough to hide a round trip, few enough
     * to batch.
     */
    private static final int BUSY = 4;
    /** With so many bytes pending, waiting for more gains nothing. */
    static final int BULK = 16 * 1024;
    /** Largest request: small enough that memory comes back while the next one travels. */
    static final int MAX_MESSAGE = 64 * 1024;

    private static final int IDLE_SWEEPS = 2;

    /** Bits of {@link #ready}. */
    static final int READABLE = 1;

    static final int WRITABLE = 2;

    private final ReentrantLock lock = new ReentrantLock();
    final RdmaTransport transport;
    final ConnectionHandles handles;
    final InetSocketAddress local;
    final InetSocketAddress remote;
    final VerbsQueues queues;
    final Connection connection;
    final Inbound in;
    final Outbound out;
    private final RdmaStream stream;
    private final Pump pump;
    private final StreamWaiter waits;
    private final KeepAlive keepAlive;
    private final boolean resetUnderstood;
    private final Burst burst = new Burst();

    // Guarded by lock.
    boolean readerInside;
    boolean writerInside;
    /** How many {@link BorrowedBytes} have to come back. */
    int borrowed;

    boolean closed;
    boolean inputShut;
    boolean outputShut;
    /** The peer has said that no more data comes; what came before may be unread. */
    boolean ended;
    /** The peer said DISCONNECT, or its CM did: what we send reaches nobody. */
    boolean peerGone;
    /** About to be freed: after a close, or because the peer broke the protocol. */
    boolean releasing;

    boolean freed;
    /** DISCONNECT waits for nothing that was written. */
    boolean resetting;

    boolean protocolBroken;
    SocketException failure;
    boolean failedAfterEnd;
    private String failedWith; // how it failed before it was closed: what the closed event says
    private int noted; // effects that others may be waiting for
    private boolean collected; // something is written, and left for the next write to take along
    private boolean growthRefused; // send memory is full, and there was no more
    private boolean listed; // among the streams that are looked after
    private int writesInRow;
    private Events.Stall stall; // while data waits for the peer, if somebody records that
    private long stalledBytes;
    private Runnable goneMeanwhile; // the CM's word that the peer is gone, while a reader polls without the lock

    // The service thread's.
    private long movesSeen;
    private int idleSweeps;
    private long seenWritten;
    private int looks;

    /** The list's, see {@link Leftovers}. */
    StreamCore nextLeftover;

    private volatile int ready;

    StreamCore(
            RdmaStream stream,
            RdmaTransport transport,
            ConnectionHandles handles,
            ConnData peer,
            InetSocketAddress local,
            InetSocketAddress remote) {
        this.stream = stream;
        this.transport = transport;
        this.handles = handles;
        this.local = local;
        this.remote = remote;
        this.resetUnderstood = peer.hasFeature(ConnData.FEATURE_RESET);
        int credits = handles.credits();
        int perMessage = handles.words == null ? 1 : 2;
        Outbound.Limits limits = new Outbound.Limits(
                handles.sendSlots, perMessage, SendBatch.MAX_SGE, MAX_MESSAGE, handles.inlineLimit, BUSY, BULK);
        this.out = new Outbound(limits, peer, ConnectionResources.TABLE_ENTRIES, credits);
        this.in = new Inbound(
                peer,
                ConnectionResources.TABLE_ENTRIES,
                credits,
                handles.firstReceive,
                handles.config.mostReceiveMemory());
        this.connection = new Connection(
                in,
                out,
                new SendMemory(handles.firstSend, handles.config.mostSendMemory()),
                handles.slabs,
                new NativeGrantTable(handles.grantTable));
        this.queues = new VerbsQueues(handles, peer.isBigEndian());
        this.pump = new Pump(connection, queues, handles.receiveSlots);
        this.waits = new StreamWaiter(this, transport.serviceThread());
        this.keepAlive = new KeepAlive(transport.service(), this::probe);
    }

    /** The connection is established: grants memory at once. */
    void open() {
        enter();
        try {
            int effects = connection.open();
            handle(effects | pump.flush());
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

    // ---- in and out ----

    void enter() {
        lock.lock();
    }

    /** After anything that was done with it. */
    void exit() {
        assert lock.isHeldByCurrentThread();
        if (lock.getHoldCount() > 1) {
            lock.unlock();
            return;
        }
        // What is collected waits for no event: that somebody waits for one is not enough.
        boolean add = !listed && !writerInside && hasLeftover() && (collected || !waits.isLookedAfter());
        if (add) {
            listed = true;
            seenWritten = out.written();
        }
        int now = readiness();
        if (now != ready) {
            ready = now;
        }
        int news = noted;
        noted = 0;
        lock.unlock();
        if (add) {
            transport.leftovers().add(this);
        }
        if (news != Effects.NONE) {
            waits.progressed();
        }
    }

    boolean isHeld() {
        return lock.isHeldByCurrentThread();
    }

    private int readiness() {
        if (failure != null || closed) {
            return READABLE | WRITABLE;
        }
        return (in.readable() > 0 || ended || inputShut ? READABLE : 0)
                | (outputShut || peerGone || hasRoom() ? WRITABLE : 0);
    }

    /**
     * Whether a waiting writer should go on: not for every byte, so that full memory does not turn into tiny messages.
     */
    private boolean hasRoom() {
        SendMemory memory = connection.sendMemory();
        return memory.totalRoom() >= Math.min(handles.config.mostSendMemory() / 4, MAX_MESSAGE)
                && (memory.room() > 0 || !growthRefused);
    }

    /** Bytes that can be copied to {@link Connection#sendMemory} in one piece; 0 if the writer has to wait. */
    int writeRoom() {
        int room = connection.writeRoom();
        growthRefused = room == 0 && connection.sendMemory().wanted() > 0;
        return room;
    }

    /** Whether a read or a write would find something to do; any thread, without the lock. */
    boolean isReady(int bit) {
        return (ready & bit) != 0;
    }

    // ---- progress, with the lock ----

    /** Takes what has come and sends what can be sent. */
    void poll() {
        if (freed) {
            return;
        }
        handle(pump.poll());
        if (collected) {
            flush();
        }
    }

    void flush() {
        if (freed) {
            return;
        }
        collected = false;
        handle(pump.flush());
        recordStall();
    }

    /** To be called after a step that may have made something to send. */
    void act(int effects) {
        if (Effects.has(effects, Effects.SEND)) {
            flush();
        }
        handle(effects & ~Effects.SEND);
    }

    /**
     * Sends what a writer has written; or leaves it for the next write to take along, while the writer outruns its
     * device, see {@link Burst}.
     *
     * @param call bytes of the whole call, of which these are a part
     */
    void flushWritten(int call) {
        writesInRow++;
        if (call >= BULK || writesInRow <= Burst.LENGTH) {
            burst.end();
            flush();
            return;
        }
        long before = System.nanoTime();
        if (burst.isRunning(before) && out.written() - out.posted() < BULK) {
            collected = true;
            return;
        }
        long posted = out.posted();
        flush();
        if (out.posted() != posted) {
            burst.posted(before, System.nanoTime());
        }
    }

    /** A reader took something: writing and reading in turn is no burst. */
    void hasRead() {
        writesInRow = 0;
    }

    /** Arms the queues, so that whatever comes next is an event, and polls for what came before. */
    void armAndPoll(boolean sends) {
        if (freed) {
            return;
        }
        if (sends || hasLeftover()) {
            queues.arm();
        } else {
            queues.armReceives();
        }
        poll();
        if (hasLeftover()) {
            queues.arm();
            poll();
            flush();
        }
    }

    /** Whether something waits to be sent. */
    boolean hasLeftover() {
        return !freed && (collected || connection.hasLeftover());
    }

    private void recordStall() {
        if (out.waitsForPeer()) {
            stall = stall == null ? Events.stalled() : stall;
            stalledBytes = out.written() - out.posted();
        } else if (stall != null) {
            stall.over(local, remote, handles.device.name(), stalledBytes);
            stall = null;
        }
    }

    /** Asks the peer's device for a sign of life. */
    private void probe() {
        enter();
        try {
            if (!freed && !closed) {
                poll(); // on an idle stream nobody else does, and earlier probes would fill the queue
                out.probe();
                flush();
            }
        } finally {
            exit();
        }
    }

    /** Called by the service thread every few seconds: if nothing has moved for some rounds, memory goes back. */
    void sweep() {
        if (!lock.tryLock()) {
            return;
        }
        try {
            long moves = in.consumed() + out.written();
            idleSweeps = moves == movesSeen ? idleSweeps + 1 : 0;
            movesSeen = moves;
            // More than once: what was on its way the first time has kept its memory.
            if (idleSweeps >= IDLE_SWEEPS && idleSweeps < 2 * IDLE_SWEEPS && !freed && !closed && !writerInside) {
                act(connection.quiet());
            }
        } finally {
            exit();
        }
    }

    // ---- what came of it, with the lock ----

    private void handle(int effects) {
        if (effects == Effects.NONE) {
            return;
        }
        noted |= effects;
        if (Effects.has(effects, Effects.ACKNOWLEDGED)) {
            growthRefused = false;
        }
        if (Effects.has(effects, Effects.RESET) && resetUnderstood) { // before its DISCONNECT, which comes with it
            fail(new SocketException("Connection reset"), "reset by the peer");
        }
        ended |= Effects.has(effects, Effects.ENDED);
        if (Effects.has(effects, Effects.GONE)) {
            peerGone = true;
            keepAlive.end();
        }
        if (Effects.has(effects, Effects.VIOLATION)) {
            protocolError(connection.violation() != null ? connection.violation() : queues.trouble());
        } else if (Effects.has(effects, Pump.FAILED)) {
            fail(new SocketException("Connection reset"), queues.trouble() != null ? queues.trouble() : pump.failure());
        }
        if (Effects.has(effects, Effects.READABLE)) {
            if (closed) { // a reset, as with TCP: nobody will read what comes after a close
                out.close(false, true);
                pump.flush();
            } else {
                discardInput();
            }
        }
    }

    /** Drops what nobody will read; a reader that is inside does it when it leaves. */
    void discardInput() {
        if (inputShut && !readerInside && !freed && in.readable() > 0) {
            act(connection.consume(in.readable()));
        }
    }

    /** The connection cannot be used any more: waits fail, after what had arrived was read. The first cause wins. */
    void fail(SocketException cause, String detail) {
        enter();
        try {
            record(cause, detail);
            die();
            noted |= Pump.FAILED;
        } finally {
            exit();
        }
    }

    private void die() {
        connection.sendFailed();
        collected = false;
        if (!freed) { // else it may be another connection's by now
            queues.clear();
        }
        recordStall();
    }

    private void record(SocketException cause, String detail) {
        keepAlive.end();
        if (failure == null) {
            failedAfterEnd = ended;
            cause.initCause(
                    new IOException(detail + " (" + handles.device.name() + ", " + local + " to " + remote + ")"));
            failure = cause;
            if (!closed) {
                failedWith = failedAfterEnd ? null : detail;
                LOG.debug("{} to {} over {}: {}", local, remote, handles.device.name(), detail);
            }
        }
    }

    /** The peer broke the protocol: nothing that it sent is used any more. */
    private void protocolError(String what) {
        protocolBroken = true;
        resetting = true;
        transport
                .protocolErrors()
                .warn("{} sent {}; the connection to it over {} is reset", remote, what, handles.device.name());
        record(new SocketException("Connection reset"), "protocol error: the peer sent " + what);
        // the application may close much later, and until then the peer can write into our memory
        stream.closing().abandon();
    }

    /** The peer sent what the protocol itself allows, but no peer has a reason to send. */
    void violated(String what) {
        connection.violated();
        flush();
        noted |= Effects.VIOLATION;
        protocolError(what);
    }

    /** The CM says that the peer is gone, without or after its DISCONNECT. */
    void peerDisconnected(String why, boolean expected) {
        enter();
        try {
            if (queues.isSpinning()) { // and may have found the end: it brings it first
                goneMeanwhile = () -> peerDisconnected(why, expected);
                return;
            }
            poll(); // what arrived before it is valid
            if (!expected || !ended) {
                fail(new SocketException("Connection reset"), why);
            }
            peerGone = true;
            keepAlive.end();
            die();
            noted |= Effects.GONE;
        } finally {
            exit();
        }
    }

    /** A reader has polled without the lock, which it holds now, and found {@code n} messages. */
    void endSpin(int n) {
        queues.endSpin(n);
        poll();
        Runnable meanwhile = goneMeanwhile;
        if (meanwhile != null) {
            goneMeanwhile = null;
            meanwhile.run();
        }
    }

    String failedWith() {
        return failedWith;
    }

    // ---- what is left to be sent ----

    /**
     * Looks after what a writer left behind; called by the service thread now and then. False once that is not needed
     * any more: all is sent, somebody else does it, or an event of the queues will tell when to go on.
     */
    boolean lookAfterLeftover() {
        enter();
        try {
            long written = out.written();
            if (written != seenWritten && !out.waitsForPeer()) {
                seenWritten = written; // the writer is about: its next write sends this, too
                looks = 0;
                return true;
            }
            poll();
            flush();
            if (hasLeftover() && !writerInside) {
                if (looks++ == 0 && !out.waitsForPeer()) {
                    return true;
                }
                armAndPoll(true);
                if (hasLeftover()) {
                    waits.lookAfter();
                }
            }
            listed = false;
            looks = 0;
            return false;
        } finally {
            exit();
        }
    }

    /** Looking after it failed, so nobody does it any longer: an error is better than silence. */
    void failLeftover(Throwable cause) {
        LOG.error("sending what is left of {} failed, the connection is reset", stream, cause);
        enter();
        try {
            fail(new SocketException("Connection reset"), "sending what was left failed: " + cause);
            listed = false; // last: if even that fails, it stays on the list
        } finally {
            exit();
        }
    }

    RdmaStream stream() {
        return stream;
    }
}
