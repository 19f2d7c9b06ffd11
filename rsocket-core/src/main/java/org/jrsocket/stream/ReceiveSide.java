/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.ReentrantLock;
import org.jrsocket.verbs.WcBatch;
import org.jrsocket.wire.Grant;
import org.jrsocket.wire.Imm;
import org.jrsocket.wire.MessageWord;

/**
 * The incoming half of a stream: receive ring and receive queue. The ring is one gapless byte stream, so two counters
 * describe it: what the peer has announced and what the reader has taken.
 *
 * <p>Whoever polls holds the lock, for one batch or for one short slice of spinning. Every completion is checked here
 * against what the peer was granted before anything is done with it: the values come from the network.
 */
final class ReceiveSide {

    /** A C peer's control messages while we do not poll: two grants, two credit updates, SHUTDOWN and DISCONNECT. */
    private static final int CONTROL_UNPOLLED = 6;
    /**
     * Receives given back at once; control messages are given back sooner, because only the spare ones pay for them.
     */
    private static final int REPOST = 32;

    private static final int REPOST_CONTROL = ConnectionHandles.SPARE_RECEIVES - CONTROL_UNPOLLED + 1;
    /** On iWARP a message and the write before it are two: the message does not tell what was written. */
    private static final int UNKNOWN = -1;

    final ReentrantLock lock = new ReentrantLock();
    private final RdmaStream stream;
    private final ConnectionHandles endpoint;
    private final SendSide send;
    private final ByteBuffer ring;
    private final ByteBuffer table;
    private final int ringSize;
    private final int credits;
    private final WcBatch completions;

    // Guarded by lock; volatile where others look without it.
    private volatile long received;
    private int receivePosition;
    private volatile int messages;
    private volatile int backedLimit;
    private int toRepost;
    private int controlToRepost;
    private int nextWord; // iWARP
    private volatile long idleMessages;
    private boolean dead;
    private volatile boolean ended;

    // The reader's own.
    private volatile long consumed;
    private int readPosition;

    ReceiveSide(RdmaStream stream, ConnectionHandles endpoint, SendSide send) {
        this.stream = stream;
        this.endpoint = endpoint;
        this.send = send;
        this.ring = endpoint.receiveRing.buffer();
        this.ringSize = endpoint.receiveRing.size();
        this.table = endpoint.grantTable.buffer();
        this.completions = endpoint.receiveCompletions;
        this.credits = endpoint.credits();
        this.backedLimit = credits;
    }

    // ---- the reader ----

    int available() {
        return (int) (received - consumed);
    }

    /** Copies out what is there, up to {@code length}. Reader only. */
    int take(byte[] target, int offset, int length) {
        int n = Math.min(length, available());
        if (n > 0) {
            int first = Math.min(n, ringSize - readPosition);
            ring.get(readPosition, target, offset, first);
            if (n > first) {
                ring.get(0, target, offset + first, n - first);
            }
            consume(n);
        }
        return n;
    }

    /** As {@link #take(byte[], int, int)}; moves the target's position. */
    int take(ByteBuffer target) {
        int n = peek(target);
        if (n > 0) {
            consume(n);
        }
        return n;
    }

    /** Copies without consuming; moves the target's position. Reader only. */
    int peek(ByteBuffer target) {
        int n = Math.min(target.remaining(), available());
        if (n > 0) {
            int to = target.position();
            int first = Math.min(n, ringSize - readPosition);
            target.put(to, ring, readPosition, first);
            if (n > first) {
                target.put(to + first, ring, 0, n - first);
            }
            target.position(to + n);
        }
        return n;
    }

    /** Drops what is there unread. By whoever is the reader, or when no reader can come any more. */
    void discard() {
        int n = available();
        if (n > 0) {
            consume(n);
        }
    }

    private void consume(int n) {
        int position = readPosition + n;
        readPosition = position >= ringSize ? position - ringSize : position;
        consumed = consumed + n;
        if (consumed + ringSize - send.granted() >= send.grantBytes() && !ended) {
            send.flush();
        }
    }

    long consumed() {
        return consumed;
    }

    /** Whether the peer has said that no more data comes. Data before it may still be unread. */
    boolean isEnded() {
        return ended;
    }

    /** Messages so far that brought neither data nor room. Any thread. */
    long idleMessages() {
        return idleMessages + send.idleUpdates();
    }

    // ---- progress: any thread ----

    /** Takes and handles the completions there are, unless somebody else does; whether there were any. */
    boolean tryPoll() {
        if (!lock.tryLock()) {
            return false;
        }
        try {
            return handle(0);
        } finally {
            lock.unlock();
        }
    }

    /** Polls for at most {@code nanos} (some microseconds), unless somebody else does; whether anything came. */
    boolean trySpin(long nanos) {
        if (!lock.tryLock()) {
            Thread.onSpinWait();
            return false;
        }
        try {
            return handle(nanos);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Arms the queue, then takes what came before it was armed; the order that loses no wake-up. Waits for the lock.
     */
    void armAndPoll() {
        lock.lock();
        try {
            if (!stream.isFreed()) {
                endpoint.recvCq.arm();
                handle(0);
            }
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #tryPoll}, but waits for the lock. */
    void poll() {
        lock.lock();
        try {
            handle(0);
        } finally {
            lock.unlock();
        }
    }

    private boolean handle(long nanos) {
        if (stream.isFreed() || dead) {
            return false;
        }
        int n = nanos > 0 ? endpoint.recvCq.spin(completions, nanos) : endpoint.recvCq.poll(completions);
        boolean any = n > 0;
        // All that was there when the queue was armed: what is left then came later and raised an event. A peer that
        // floods must not keep this thread.
        int most = endpoint.receiveSlots;
        while (n > 0) {
            for (int i = 0; i < n && !dead; i++) {
                handleOne(i);
            }
            if (dead) {
                return true; // whoever killed it woke the sleepers
            }
            repost();
            most -= n;
            if (n < completions.capacity() || most < 0) {
                break;
            }
            n = endpoint.recvCq.poll(completions);
        }
        if (n < 0) {
            fail("polling the receive completion queue failed, errno " + -n);
        }
        if (any) {
            if (stream.discardsInput()) {
                discard();
            }
            stream.progressed();
        }
        return any;
    }

    private void handleOne(int i) {
        int status = completions.status(i);
        if (status != WcBatch.SUCCESS) {
            dead = true;
            if (status == WcBatch.FLUSHED) {
                stream.fail(new SocketException("Connection reset"), "the queue pair is in error");
            } else {
                stream.fail(new SocketException("Connection reset"), "receive completion status " + status);
            }
            return;
        }
        int length = completions.byteLength(i);
        int opcode = completions.opcode(i);
        boolean whole;
        int imm;
        if (endpoint.words != null) {
            whole = opcode == WcBatch.OP_RECV && length == MessageWord.SIZE;
            imm = MessageWord.get(endpoint.words.buffer(), nextWord * MessageWord.SIZE);
            nextWord = nextWord + 1 == endpoint.receiveSlots ? 0 : nextWord + 1;
            length = UNKNOWN;
        } else {
            whole = (completions.flags(i) & WcBatch.WITH_IMM) != 0
                    && (opcode == WcBatch.OP_RECV_RDMA_WITH_IMM || opcode == WcBatch.OP_RECV && length == 0);
            imm = completions.imm(i);
        }
        if (!whole) {
            protocolError(
                    "a message that is not rsocket's (opcode " + opcode + ", " + completions.byteLength(i) + " bytes)");
            return;
        }
        toRepost++;
        switch (Imm.op(imm)) {
            case Imm.OP_DATA -> data(Imm.value(imm), length);
            case Imm.OP_SGL -> {
                controlToRepost++;
                if (length != UNKNOWN && length != 0 && length != Grant.SIZE) {
                    protocolError("a credit update of " + length + " bytes");
                    return;
                }
                String wrong = send.update(Imm.limit(imm), length != 0, length == Grant.SIZE, table);
                if (wrong != null) {
                    protocolError(wrong);
                }
            }
            case Imm.OP_CTRL -> {
                controlToRepost++;
                control(Imm.value(imm), length);
            }
            default -> protocolError("a message of unknown kind, immediate data 0x" + Integer.toHexString(imm));
        }
    }

    private void data(int n, int length) {
        int count = messages + 1 & 0xffff;
        if (backedOutstanding() == 0) {
            protocolError("more data messages than it has credits for");
            return;
        }
        messages = count;
        if (n == 0) {
            idleMessages++;
            return; // C's reader would take it for the end; here it costs its receive and is nothing
        }
        if (ended) {
            return; // C does not keep an application from sending after its own shutdown; there is nobody to read it
        }
        if (length != n && length != UNKNOWN) {
            protocolError("data of " + length + " bytes announced as " + n);
            return;
        }
        if (received + n > send.granted() || n > ringSize - receivePosition) {
            protocolError("data of " + n + " bytes beyond the " + (send.granted() - received) + " granted");
            return;
        }
        int position = receivePosition + n;
        receivePosition = position == ringSize ? 0 : position;
        received = received + n;
    }

    /** Credits the peer has left, by what was announced to it. */
    private int backedOutstanding() {
        return send.announcedLimit() - messages & 0xffff;
    }

    private void control(int code, int length) {
        idleMessages++; // of those that mean something, each comes once
        if (length != 0 && length != UNKNOWN) {
            protocolError("a control message of " + length + " bytes");
            return;
        }
        switch (code) {
            case Imm.CTRL_SHUTDOWN -> ended = true;
            case Imm.CTRL_RESET -> {
                if (stream.peerUnderstandsReset()) {
                    stream.peerReset();
                }
            }
            case Imm.CTRL_DISCONNECT -> {
                ended = true;
                stream.peerDisconnected();
            }
            default -> {
                // Unknown codes are ignored, as C does: they are how later versions can speak to this one.
            }
        }
    }

    /** Gives receives back in batches, and tells the peer of its new credits when it could run short. */
    private void repost() {
        boolean low = backedOutstanding() <= credits / 2;
        if (toRepost < REPOST && controlToRepost < REPOST_CONTROL && !low || toRepost == 0) {
            return;
        }
        if (!endpoint.postReceives(toRepost)) {
            fail("posting receives failed, errno " + endpoint.qp.postError());
            return;
        }
        toRepost = 0;
        controlToRepost = 0;
        backedLimit = messages + credits & 0xffff;
        if (low) {
            send.flush();
        }
    }

    /**
     * Whether the peer's credits, of which {@code announced} is the limit it knows, run low and more receives back
     * them. For the send side.
     */
    boolean creditsRunLow(int announced) {
        return (announced - messages & 0xffff) <= credits / 2 && backedLimit != announced;
    }

    int backedLimit() {
        return backedLimit;
    }

    private void protocolError(String what) {
        dead = true;
        stream.protocolError(what);
    }

    private void fail(String what) {
        dead = true;
        stream.fail(new SocketException("Connection reset"), what);
    }
}
