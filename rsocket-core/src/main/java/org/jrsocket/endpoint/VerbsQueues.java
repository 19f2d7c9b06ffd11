/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

import com.ibm.disni.verbs.IbvWC;
import java.nio.ByteBuffer;
import org.jrsocket.os.Errno;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.protocol.Inbound;
import org.jrsocket.protocol.Queues;
import org.jrsocket.protocol.Slab;
import org.jrsocket.verbs.Cq;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.WcBatch;
import org.jrsocket.wire.Grant;
import org.jrsocket.wire.MessageWord;

/**
 * A queue pair of the device as the protocol uses it. Guarded by the stream's lock, except that a thread inside the
 * stream may {@linkplain #spin wait} for the receive queue without it.
 *
 * <p>iWARP has no immediate data. A message there is a plain write followed by a SEND of 4 bytes, in host order.
 */
public final class VerbsQueues implements Queues {

    private static final int STAGED = NativeMemory.PAGE / Grant.SIZE;
    private static final String FLUSHED = "the queue pair is in error";

    private final Endpoint endpoint;
    private final Bundle bundle;
    private final boolean peerBigEndian;
    private final boolean iwarp;
    private final Cq recvCq;
    private final Cq sendCq;
    private final SendBatch batch;
    private final WcBatch sent;
    private final WcBatch received;
    private final ByteBuffer staging;
    private int staged;

    private boolean wordWaits; // iWARP: the SEND that follows the pieces of the last message
    private int word;
    private boolean wordSignaled;
    private int firstWord; // iWARP: of the last poll's messages
    private int nextWord;

    private boolean reposted;
    private boolean receiveArmed;
    private boolean sendArmed;

    private String trouble;
    private boolean pathLost;
    private boolean stuck; // a request did not leave this host

    public VerbsQueues(Endpoint endpoint, boolean peerBigEndian) {
        this.endpoint = endpoint;
        this.peerBigEndian = peerBigEndian;
        this.bundle = endpoint.bundle();
        this.iwarp = bundle.words != null;
        this.recvCq = bundle.recvCq;
        this.sendCq = bundle.sendCq;
        this.batch = bundle.sends;
        this.sent = bundle.sendCompletions;
        this.received = bundle.receiveCompletions;
        this.staging = bundle.staging.buffer();
    }

    // ---- sending ----

    @Override
    public int room() {
        return batch.capacity() - batch.size() - (wordWaits ? 1 : 0);
    }

    @Override
    public void data(int imm, long remoteAddress, int remoteKey, boolean inline, boolean signaled) {
        int flags = inline ? SendBatch.INLINE : 0;
        if (iwarp) {
            appendWord();
            batch.add(0, SendBatch.RDMA_WRITE, flags, 0, remoteAddress, remoteKey);
            wordWaits = true;
            word = imm;
            wordSignaled = signaled;
        } else {
            batch.add(0, SendBatch.RDMA_WRITE_WITH_IMM, flags | signal(signaled), imm, remoteAddress, remoteKey);
        }
    }

    private static int signal(boolean signaled) {
        return signaled ? SendBatch.SIGNALED : 0;
    }

    @Override
    public void piece(long address, int length, int localKey) {
        batch.sge(address, length, localKey);
    }

    private void appendWord() {
        if (wordWaits) {
            wordWaits = false;
            sendWord(word, wordSignaled);
        }
    }

    private void sendWord(int imm, boolean signaled) {
        int at = stage();
        MessageWord.put(staging, at, imm);
        batch.add(0, SendBatch.SEND, SendBatch.INLINE | signal(signaled), 0, 0, 0);
        batch.sge(bundle.staging.address() + at, MessageWord.SIZE, bundle.stagingMr.getLkey());
    }

    /** Returns a place for one outgoing grant or word, which is reused only much later. */
    private int stage() {
        int at = staged * Grant.SIZE;
        staged = (staged + 1) % STAGED;
        return at;
    }

    @Override
    public void grant(int imm, long tableAddress, int tableKey, Slab granted, boolean signaled) {
        int at = stage();
        Grant.put(staging, at, peerBigEndian, granted.address(), granted.remoteKey(), granted.length());
        data(imm, tableAddress, tableKey, Grant.SIZE <= endpoint.inlineLimit(), signaled);
        piece(bundle.staging.address() + at, Grant.SIZE, bundle.stagingMr.getLkey());
    }

    @Override
    public void control(int imm, boolean signaled) {
        if (iwarp) {
            appendWord();
            sendWord(imm, signaled);
        } else {
            batch.add(0, SendBatch.RDMA_WRITE_WITH_IMM, signal(signaled), imm, 0, 0);
        }
    }

    @Override
    public void probe() {
        appendWord();
        batch.add(0, SendBatch.RDMA_WRITE, SendBatch.SIGNALED, 0, 0, 0);
    }

    /** Returns the memory for what {@link org.jrsocket.protocol.Pump#writeInline} sends next, and for nothing else. */
    public ByteBuffer payload() {
        return batch.payload();
    }

    public long payloadAddress() {
        return batch.payloadAddress();
    }

    @Override
    public boolean post() {
        appendWord();
        int n = batch.size();
        if (n == 0) {
            return true;
        }
        int done = endpoint.qp().postSend(batch);
        batch.clear();
        if (done < n) {
            trouble = "posting to the send queue failed: "
                    + Errno.describe(endpoint.qp().postError());
        }
        return done == n;
    }

    @Override
    public int batch() {
        return sent.capacity();
    }

    @Override
    public int pollSends() {
        int n = sendCq.poll(sent);
        if (n < 0) {
            trouble = "polling the send completion queue failed: " + Errno.describe(-n);
        }
        return n;
    }

    @Override
    public boolean isSent(int index) {
        int status = sent.status(index);
        if (status != WcBatch.SUCCESS) {
            pathLost |= status == WcBatch.RETRY_EXCEEDED;
            stuck |= status == WcBatch.LOCAL_QP_OPERATION;
            trouble = switch (status) {
                case WcBatch.RETRY_EXCEEDED -> "the peer's device does not answer";
                case WcBatch.REMOTE_ACCESS -> "the peer's device refused the key or address that the peer had granted";
                case WcBatch.LOCAL_QP_OPERATION -> "this host's device could not send; is its link up?";
                case WcBatch.FLUSHED -> known(FLUSHED);
                default -> "a request failed with " + name(status);
            };
        }
        return status == WcBatch.SUCCESS;
    }

    // ---- receiving ----

    @Override
    public int pollReceives() {
        int n = recvCq.poll(received);
        if (n < 0) {
            trouble = "polling the receive completion queue failed: " + Errno.describe(-n);
        } else if (iwarp) {
            firstWord = nextWord;
            nextWord = (nextWord + n) % endpoint.receiveSlots();
        }
        return n;
    }

    /** Waits at most {@code nanos}, some microseconds, until a poll would take a message. Called without the lock. */
    public boolean spin(long nanos) {
        return recvCq.spin(nanos);
    }

    /** Returns the receive queue, for a set of streams that waits for messages, too. */
    public Cq receiveCq() {
        return recvCq;
    }

    @Override
    public boolean isReceived(int index) {
        int status = received.status(index);
        if (status != WcBatch.SUCCESS) {
            trouble = status == WcBatch.FLUSHED ? known(FLUSHED) : "a receive failed with " + name(status);
        }
        return status == WcBatch.SUCCESS;
    }

    @Override
    public boolean isMessage(int index) {
        int opcode = received.opcode(index);
        int length = received.byteLength(index);
        // Not by the opcode alone: irdma of rdma-core 44 to 51 reports a write with immediate data as a receive (E810).
        // Even so, a send has no bytes: these receives have no memory, so a send that brings some fails.
        boolean whole = iwarp
                ? opcode == WcBatch.OP_RECV && length == MessageWord.SIZE
                : (received.flags(index) & WcBatch.WITH_IMM) != 0
                        && (opcode == WcBatch.OP_RECV_RDMA_WITH_IMM || opcode == WcBatch.OP_RECV);
        if (!whole) {
            trouble = "a message that is not rsocket's (opcode " + opcode + ", " + length + " bytes)";
        }
        return whole;
    }

    @Override
    public int imm(int index) {
        return iwarp
                ? MessageWord.get(
                        bundle.words.buffer(), (firstWord + index) % endpoint.receiveSlots() * MessageWord.SIZE)
                : received.imm(index);
    }

    @Override
    public int length(int index) {
        return iwarp ? Inbound.UNKNOWN_LENGTH : received.byteLength(index);
    }

    @Override
    public boolean postReceives(int count) {
        if (!reposted) {
            reposted = endpoint.reposts();
        }
        boolean all = endpoint.postReceives(count);
        if (!all) { // of a queue pair in error, mostly
            trouble = known(
                    "posting receives failed: " + Errno.describe(endpoint.qp().postError()));
        }
        return all;
    }

    /** Returns the name of an {@code enum ibv_wc_status}, with its number. */
    static String name(int status) {
        IbvWC.IbvWcStatus[] names = IbvWC.IbvWcStatus.values();
        return status < names.length ? names[status] + " (" + status + ")" : "work completion status " + status;
    }

    /** What a queue pair in error returns does not say why it is in error, so what is known of that stays. */
    private String known(String otherwise) {
        return trouble != null ? trouble : otherwise;
    }

    /** Returns what last went wrong, for people; null if nothing did. */
    public String trouble() {
        return trouble;
    }

    /** Returns whether the peer's device left a send unanswered, with all its repetitions. */
    public boolean isPathLost() {
        return pathLost;
    }

    /** Returns whether the peer may not know what happened: its path was lost, or this host's device could not send. */
    public boolean isUnheard() {
        return pathLost || stuck;
    }

    // ---- events ----

    @Override
    public void arm() {
        armReceives();
        if (!sendArmed) {
            sendArmed = true;
            sendCq.arm();
        }
    }

    @Override
    public void armReceives() {
        if (!receiveArmed) {
            receiveArmed = true;
            recvCq.arm();
        }
    }

    /**
     * Takes one of the channel's events, which unarms the queue that it came from. Returns whether there was one. If
     * there is another, the channel stays readable and the watcher comes back; asking each time for an event that is
     * not there would waste a system call.
     */
    public boolean takeEvent() {
        int cookie = bundle.channel.takeEvent();
        if (cookie == Bundle.RECV_COOKIE) {
            receiveArmed = false;
        } else if (cookie >= 0) {
            sendArmed = false;
        }
        return cookie >= 0;
    }

    /** Discards what was built and not posted. */
    public void clear() {
        batch.clear();
        wordWaits = false;
    }
}
