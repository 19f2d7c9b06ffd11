/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.lang.invoke.VarHandle;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.ReentrantLock;
import org.jrsocket.jfr.Events;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.WcBatch;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Credits;
import org.jrsocket.wire.Grant;
import org.jrsocket.wire.Imm;
import org.jrsocket.wire.MessageWord;

/**
 * The outgoing half of a stream: send ring, the peer's grants and credits, the send queue; and, because they are sent,
 * our grants and credits to the peer and the control messages.
 *
 * <p>The writer copies into the ring without the lock and then {@linkplain #flush flushes}; anybody may flush what is
 * there. The lock is held for a post or a poll, never across a wait.
 *
 * <p>Small writes are coalesced while the send queue is busy: up to {@link #BUSY} requests are on their way at once,
 * and what is written meanwhile goes out as one request when one of them completes; or, where a device is done when the
 * post returns, while a {@link Burst} runs. The writer's next call, a reader's wait, or the {@link Flusher} sees to
 * that.
 */
final class SendSide {

    /**
     * Requests on their way at which small writes start to be coalesced: enough to hide a round trip, few enough to
     * batch.
     */
    private static final int BUSY = 4;
    /** Pending bytes from which waiting for more gains nothing. */
    static final int BULK = 16 * 1024;
    /**
     * Largest request: a multiple of every path MTU, and small enough that ring space comes back while the next one
     * travels.
     */
    private static final int MAX_MESSAGE = 64 * 1024;
    /**
     * One request in so many asks for a completion. Half of BUSY, so that a busy queue always has a completion to come.
     */
    private static final int SIGNAL_EVERY = BUSY / 2;
    /** Send queue slots that data leaves to updates and control messages. */
    private static final int CONTROL_SLOTS = 8;
    /**
     * Credits of a C peer that data leaves alone: it posts exactly as many receives as it advertises, and control
     * messages need some.
     */
    private static final int RESERVED_CREDITS = 8;

    private static final int STAGED = NativeMemory.PAGE / Grant.SIZE;

    final ReentrantLock lock = new ReentrantLock();
    private final RdmaStream stream;
    private final ConnectionHandles endpoint;
    private final ByteBuffer ring;
    private final long ringAddress;
    private final int ringSize;
    private final int lowWater;
    /** Bytes after which a completion is asked for: less than what keeps a waiting writer from its low-water mark. */
    private final int signalBytes;

    private final boolean iwarp;
    private final SendBatch batch;
    private final WcBatch completions;

    /** Bytes the writer put into the ring. Written by the writer only. */
    private volatile long written;

    private int writePosition; // writer only

    // Everything below: guarded by lock; volatile where others look without it.
    private long posted;
    private int postPosition;
    private volatile long completed;
    private int outstanding;
    private int unsignaled;
    private int unsignaledBytes;
    private volatile boolean deferred;
    private volatile boolean starved;
    private boolean blocked;
    private boolean dead;
    private final Burst burst = new Burst();
    private Events.Stall stall; // while data waits for the peer, if somebody records that

    private long grantAddress;
    private int grantKey;
    private int grantLeft;
    private final long[] nextAddress;
    private final int[] nextKey;
    private final int[] nextLength;
    private int nextHead;
    private int nextCount;
    // the peer writes its grants to 1 first: entry 0 stands for the one in its connection data
    private int tableRead = 1;
    private int sequence;
    private int limit;
    private final int initialCredits;
    private final int reserved;

    private final long peerTable;
    private final int peerTableKey;
    private final int peerTableEntries;
    private final boolean peerBigEndian;
    private int peerTableIndex = 1;
    private volatile long granted;
    private volatile int announcedLimit;
    private final int half;
    private int stagedIndex;

    private volatile long idleUpdates;

    private boolean shutdownWanted;
    private boolean shutdownSent;
    private boolean disconnectWanted;
    private boolean disconnectSent;
    private boolean resetWanted;
    private boolean dropped;

    SendSide(RdmaStream stream, ConnectionHandles endpoint, ConnData peer) {
        this.stream = stream;
        this.endpoint = endpoint;
        this.ring = endpoint.sendRing.buffer();
        this.ringAddress = endpoint.sendRing.address();
        this.ringSize = endpoint.sendRing.size() - NativeMemory.PAGE;
        this.lowWater = Math.min(ringSize / 4, MAX_MESSAGE);
        this.signalBytes = Math.min(ringSize / 4, BULK);
        this.iwarp = endpoint.words != null;
        this.batch = endpoint.sends;
        this.completions = endpoint.sendCompletions;
        this.grantAddress = peer.dataAddr();
        this.grantKey = peer.dataKey();
        this.grantLeft = peer.dataLength();
        int entries = ConnectionResources.TABLE_ENTRIES;
        this.nextAddress = new long[entries];
        this.nextKey = new int[entries];
        this.nextLength = new int[entries];
        this.initialCredits = peer.credits();
        this.limit = initialCredits;
        this.reserved = peer.hasExtension() ? 0 : Math.min(RESERVED_CREDITS, initialCredits / 4);
        this.peerTable = peer.targetAddr();
        this.peerTableKey = peer.targetKey();
        this.peerTableEntries = peer.targetLength();
        this.peerBigEndian = peer.isBigEndian();
        this.half = endpoint.grantBytes();
        this.granted = half; // the first half went out with our connection data
        this.announcedLimit = endpoint.credits();
    }

    // ---- the writer ----

    /** Free bytes of the ring. Any thread. */
    int room() {
        return ringSize - (int) (written - completed);
    }

    /**
     * Whether a waiting writer should go on: not for every byte, so that a full ring does not turn into tiny messages.
     * Any thread.
     */
    boolean hasRoom() {
        return room() >= lowWater;
    }

    /** Copies what fits, at most one message's worth; returns how much. Writer only; call {@link #flush} next. */
    int put(byte[] source, int offset, int length) {
        int n = Math.min(Math.min(length, room()), MAX_MESSAGE);
        int first = Math.min(n, ringSize - writePosition);
        ring.put(writePosition, source, offset, first);
        if (n > first) {
            ring.put(0, source, offset + first, n - first);
        }
        wrote(n);
        return n;
    }

    /** As {@link #put(byte[], int, int)}; moves the source's position. */
    int put(ByteBuffer source) {
        int n = Math.min(Math.min(source.remaining(), room()), MAX_MESSAGE);
        int from = source.position();
        int first = Math.min(n, ringSize - writePosition);
        ring.put(writePosition, source, from, first);
        if (n > first) {
            ring.put(0, source, from + first, n - first);
        }
        source.position(from + n);
        wrote(n);
        return n;
    }

    private void wrote(int n) {
        int position = writePosition + n;
        writePosition = position >= ringSize ? position - ringSize : position;
        written = written + n;
    }

    long written() {
        return written;
    }

    // ---- progress: any thread ----

    /**
     * Posts whatever may go, and takes completions where that helps. Waits for the lock, which is held only for a post
     * or a poll.
     */
    void flush() {
        lock.lock();
        try {
            progress();
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #flush}, for a writer who has just put {@code n} bytes, and of whom more may come at once. */
    void flushWritten(int n) {
        lock.lock();
        try {
            if (n >= BULK) {
                burst.end();
            }
            progress(isBurst());
        } finally {
            lock.unlock();
        }
    }

    private boolean isBurst() {
        return burst.isLong() && burst.isRunning(System.nanoTime());
    }

    /** Takes completions, then posts, unless somebody else holds the lock; for spinning. Not enough before a sleep. */
    void pollAndFlush() {
        if (lock.tryLock()) {
            try {
                poll();
                progress();
            } finally {
                lock.unlock();
            }
        }
    }

    /**
     * Whether something waits for a completion of ours to go out; then a sleeper must arm the send queue too. Any
     * thread.
     */
    boolean isDeferred() {
        return deferred;
    }

    /** Whether something waits for the peer, for its grant or its credits, and for nothing else. Any thread. */
    boolean isStarved() {
        return starved;
    }

    /** Bytes that were given to the device. */
    long posted() {
        lock.lock();
        try {
            return posted;
        } finally {
            lock.unlock();
        }
    }

    /** Updates of the peer that told nothing new. Any thread. */
    long idleUpdates() {
        return idleUpdates;
    }

    /**
     * Whether an event of an armed queue is to come: the peer's, or that of a request which asked for a completion. Any
     * thread.
     */
    boolean awaitsEvent() {
        lock.lock();
        try {
            return starved || outstanding > unsignaled;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Arms the queue (if asked to), then takes what came before it was armed, and posts; the order that loses no
     * wake-up. Waits for the lock.
     */
    void armAndPoll(boolean arm) {
        lock.lock();
        try {
            if (arm && !endpointGone()) {
                endpoint.sendCq.arm();
            }
            poll();
            progress();
        } finally {
            lock.unlock();
        }
    }

    private boolean endpointGone() {
        return stream.isFreed();
    }

    private void progress() {
        progress(false);
    }

    /** {@code collect}: leaves a small remainder for the next time. */
    private void progress(boolean collect) {
        if (endpointGone()) {
            return;
        }
        if (dead) {
            abandon();
            return;
        }
        if (outstanding >= BUSY) {
            poll();
        }
        boolean more;
        do {
            long before = posted;
            buildUpdates();
            buildData(collect);
            buildControl();
            more = posted == before ? post() : postData();
        } while (more);
        boolean wait = written != posted
                || blocked
                || shutdownWanted && !shutdownSent && !disconnectWanted
                || disconnectWanted && !disconnectSent;
        if (wait && !deferred) {
            deferred = true;
            stream.deferred();
        } else if (!wait) {
            deferred = false;
        }
    }

    /** Whether a message fits into batch and send queue; on iWARP it is two requests. */
    private boolean slotFree(int keep) {
        return batch.size() + 2 <= batch.capacity() && outstanding + batch.size() + 2 <= endpoint.sendSlots - keep;
    }

    /**
     * Data: as few requests as grants and ring allow; a message never crosses a grant, and a grant is filled to its
     * last byte.
     */
    private void buildData(boolean collect) {
        long end = written;
        if (starved) {
            starved = false;
        }
        if (dropped || shutdownSent || disconnectSent) {
            // dropped, or from a writer that the end of the stream has overtaken: nothing may follow, least of all with
            // a gap before it
            posted = end;
            return;
        }
        while (posted < end && slotFree(CONTROL_SLOTS)) {
            int pending = (int) (end - posted);
            if (grantLeft == 0 && !nextGrant() || Credits.window(limit, sequence) <= reserved) {
                if (resetWanted) { // as TCP: a reset does not wait for the peer to read, who may be waiting for us
                    dropped = true;
                    posted = end;
                    return;
                }
                starved = true;
                stall = stall == null ? Events.stalled() : stall;
                return;
            }
            if (stall != null) {
                stallOver();
            }
            if (pending < BULK && (collect || outstanding + batch.size() >= BUSY)) {
                return;
            }
            int n = Math.min(Math.min(pending, grantLeft), MAX_MESSAGE);
            int flags = n <= endpoint.inlineLimit ? SendBatch.INLINE : 0;
            int first = Math.min(n, ringSize - postPosition);
            posted += n;
            message(Imm.data(n), flags, grantAddress, grantKey, postPosition, first, n - first, false);
            int position = postPosition + n;
            postPosition = position >= ringSize ? position - ringSize : position;
            grantAddress += n;
            grantLeft -= n;
            sequence = Credits.next(sequence);
        }
    }

    private void stallOver() {
        stall.over(stream.localAddress(), stream.remoteAddress(), stream.deviceName(), written - posted);
        stall = null;
    }

    private boolean nextGrant() {
        if (nextCount == 0) {
            return false;
        }
        grantAddress = nextAddress[nextHead];
        grantKey = nextKey[nextHead];
        grantLeft = nextLength[nextHead];
        nextHead = (nextHead + 1) % nextAddress.length;
        nextCount--;
        return true;
    }

    /** Our grants and credits to the peer, whenever half the ring was read or half the credits are used up. */
    private void buildUpdates() {
        blocked = false;
        if (disconnectSent || stream.inputEnded()) {
            return; // a peer that will send no more needs neither
        }
        long target = stream.consumed() + 2L * half;
        while (target - granted >= half) {
            if (!slotFree(0)) {
                blocked = true;
                return;
            }
            int staged = stage();
            int offset = (int) (granted % (2L * half));
            Grant.put(
                    ring,
                    staged,
                    peerBigEndian,
                    endpoint.receiveRing.address() + offset,
                    endpoint.receiveMr.getRkey(),
                    half);
            granted = granted + half;
            int flags = Grant.SIZE <= endpoint.inlineLimit ? SendBatch.INLINE : 0;
            message(
                    sglImm(),
                    flags,
                    peerTable + (long) Grant.SIZE * peerTableIndex,
                    peerTableKey,
                    staged,
                    Grant.SIZE,
                    0,
                    false);
            peerTableIndex = (peerTableIndex + 1) % peerTableEntries;
        }
        if (stream.creditsRunLow(announcedLimit)) {
            if (!slotFree(0)) {
                blocked = true;
                return;
            }
            appendControl(sglImm(), false);
        }
    }

    private int sglImm() {
        int backed = stream.backedLimit();
        announcedLimit = backed;
        return Imm.sgl(backed);
    }

    /** SHUTDOWN and DISCONNECT follow all data; a reset does not wait for it. */
    private void buildControl() {
        if (!(shutdownWanted || disconnectWanted) || !slotFree(0)) {
            return;
        }
        if (posted != written && !dropped) {
            return;
        }
        if (shutdownWanted && !shutdownSent && !disconnectWanted) {
            shutdownSent = true;
            appendControl(Imm.ctrl(Imm.CTRL_SHUTDOWN), true);
        }
        if (disconnectWanted && shutdownSent && stream.peerShutDown() && !resetWanted) {
            disconnectSent = true; // two SHUTDOWNs are an end: a C peer's queue pair no longer answers
        }
        if (disconnectWanted && !disconnectSent && slotFree(0)) {
            disconnectSent = true;
            if (resetWanted && stream.peerUnderstandsReset()) {
                appendControl(Imm.ctrl(Imm.CTRL_RESET), false);
            }
            appendControl(Imm.ctrl(Imm.CTRL_DISCONNECT), true);
        }
    }

    /**
     * Appends a message with {@code first + second} bytes of the ring from {@code position} on; the second part is at
     * the ring's start.
     */
    private void message(
            int imm, int flags, long remote, int key, int position, int first, int second, boolean signal) {
        int lkey = endpoint.sendMr.getLkey();
        if (iwarp) {
            add(SendBatch.RDMA_WRITE, flags, 0, remote, key, 0, false);
        } else {
            add(SendBatch.RDMA_WRITE_WITH_IMM, flags, imm, remote, key, first + second, signal);
        }
        batch.sge(ringAddress + position, first, lkey);
        if (second > 0) {
            batch.sge(ringAddress, second, lkey);
        }
        if (iwarp) {
            appendIwarpWord(imm, first + second, signal);
        }
    }

    /** Appends a message without payload. */
    private void appendControl(int imm, boolean signal) {
        if (iwarp) {
            appendIwarpWord(imm, 0, signal);
        } else {
            add(SendBatch.RDMA_WRITE_WITH_IMM, 0, imm, 0, 0, 0, signal);
        }
    }

    /** iWARP has no immediate data: the same 32 bits travel in a SEND of their own, in host order. */
    private void appendIwarpWord(int imm, int bytes, boolean signal) {
        int staged = stage();
        MessageWord.put(ring, staged, imm);
        add(SendBatch.SEND, SendBatch.INLINE, 0, 0, 0, bytes, signal);
        batch.sge(ringAddress + staged, MessageWord.SIZE, 0);
    }

    /** Room for one grant or word behind the ring, each place used again only much later. */
    private int stage() {
        int staged = ringSize + stagedIndex * Grant.SIZE;
        stagedIndex = (stagedIndex + 1) % STAGED;
        return staged;
    }

    /**
     * Appends one request. Its id tells its completion what it retires: in the low 16 bits how many requests, above
     * them the bytes posted up to here. Only signalled requests complete (or failing ones), in order, so those in
     * between need no record.
     */
    private void add(int opcode, int flags, int imm, long remote, int key, int bytes, boolean signal) {
        unsignaled++;
        unsignaledBytes += bytes;
        if (signal || unsignaled >= SIGNAL_EVERY || unsignaledBytes >= signalBytes) {
            flags |= SendBatch.SIGNALED;
        }
        batch.add(posted << 16 | unsignaled, opcode, flags, imm, remote, key);
        if ((flags & SendBatch.SIGNALED) != 0) {
            unsignaled = 0;
            unsignaledBytes = 0;
        }
    }

    private boolean postData() {
        long before = System.nanoTime();
        boolean more = post();
        burst.posted(before, System.nanoTime());
        return more;
    }

    /** Posts the batch; true if it was full, so that more may follow. */
    private boolean post() {
        int n = batch.size();
        if (n == 0) {
            return false;
        }
        boolean more = n + 2 > batch.capacity(); // full, see slotFree
        int done = endpoint.qp.postSend(batch);
        batch.clear();
        outstanding += n;
        if (done < n) {
            int errno = endpoint.qp.postError();
            stream.fail(new SocketException("Connection reset"), "posting to the send queue failed, errno " + errno);
            return false;
        }
        return more;
    }

    /** Takes the completions there are. With lock. */
    private void poll() {
        if (endpointGone()) {
            return;
        }
        int n;
        boolean any = false;
        do {
            n = endpoint.sendCq.poll(completions);
            if (n < 0) {
                stream.fail(
                        new SocketException("Connection reset"),
                        "polling the send completion queue failed, errno " + -n);
                return;
            }
            any |= n > 0;
            for (int i = 0; i < n; i++) {
                if (completions.status(i) == WcBatch.SUCCESS) {
                    retire(completions.id(i));
                } else {
                    failed(completions.status(i));
                }
            }
        } while (n == completions.capacity());
        if (any) {
            stream.progressed();
        }
    }

    private void retire(long id) {
        outstanding -= (int) (id & 0xffff);
        long low = completed & 0xffff_ffff_ffffL;
        completed = completed + ((id >>> 16) - low & 0xffff_ffff_ffffL);
    }

    private void failed(int status) {
        if (!dead) {
            String what =
                    switch (status) {
                        case WcBatch.RETRY_EXCEEDED -> "the peer's device does not answer";
                        case WcBatch.REMOTE_ACCESS ->
                            "the peer's device refused the key or address that the peer had granted";
                        case WcBatch.FLUSHED -> "the queue pair is in error";
                        default -> "work completion status " + status;
                    };
            stream.fail(new SocketException("Connection reset"), what);
        }
    }

    // ---- what the peer says; called by the receiver ----

    /**
     * The peer's new limit, and a grant if one came with it. Takes the entry out of the remotely writable table, once.
     *
     * @param mayGrant whether to look for a grant
     * @param grants whether there is one for sure: then it uses up its entry even if it grants nothing
     * @return null, or what is wrong
     */
    String update(int newLimit, boolean mayGrant, boolean grants, ByteBuffer table) {
        lock.lock();
        try {
            if (!Credits.isLimitPlausible(newLimit, limit, sequence, initialCredits)) {
                return "credit limit " + newLimit + " with " + sequence + " messages sent and " + initialCredits
                        + " initial credits";
            }
            boolean idle = newLimit == limit;
            limit = newLimit;
            if (mayGrant) {
                int at = tableRead * Grant.SIZE;
                // The length first, and nothing is cleared unless it is there: on iWARP a later grant may be arriving
                // at this moment.
                int length = Grant.length(table, at, Grant.BIG_ENDIAN_HOST);
                if (length != 0) {
                    VarHandle.loadLoadFence();
                    long address = Grant.address(table, at, Grant.BIG_ENDIAN_HOST);
                    int key = Grant.key(table, at, Grant.BIG_ENDIAN_HOST);
                    Grant.clear(table, at);
                    if (length < 0 || !Grant.isSound(address, length) || nextCount == nextAddress.length) {
                        return "grant of " + Integer.toUnsignedString(length) + " bytes with " + nextCount
                                + " grants unused";
                    }
                    int slot = (nextHead + nextCount) % nextAddress.length;
                    nextAddress[slot] = address;
                    nextKey[slot] = key;
                    nextLength[slot] = length;
                    nextCount++;
                    idle = false;
                }
                if (grants || length != 0) {
                    tableRead = (tableRead + 1) % ConnectionResources.TABLE_ENTRIES;
                }
            }
            idleUpdates += idle ? 1 : 0;
            progress();
            return null;
        } finally {
            lock.unlock();
        }
    }

    // ---- the end ----

    /** Asks for SHUTDOWN after everything written so far. */
    void shutdown() {
        lock.lock();
        try {
            shutdownWanted = true;
            progress();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Asks for DISCONNECT. {@code drop}: what is not posted yet never will be. {@code reset}: tell a peer that
     * understands.
     */
    void disconnect(boolean drop, boolean reset) {
        lock.lock();
        try {
            dropped |= drop;
            disconnectWanted = true;
            resetWanted |= reset;
            progress();
        } finally {
            lock.unlock();
        }
    }

    /** Whether everything is out and acknowledged by the peer's device, or never will be. */
    boolean isDrained() {
        lock.lock();
        try {
            // What is posted behind the last request that asked for a completion can only be updates.
            return dead || posted == written && outstanding <= unsignaled && (!disconnectWanted || disconnectSent);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Whether the peer's device has acknowledged the first {@code bytes}, or never will. If nothing that is under way
     * asks for the last acknowledgement, a probe does.
     */
    boolean isAcknowledged(long bytes) {
        lock.lock();
        try {
            poll();
            progress();
            if (dead || endpointGone() || completed - bytes >= 0) {
                return true;
            }
            if (posted - bytes >= 0 && outstanding <= unsignaled) {
                probe();
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** A zero-length write: its acknowledgement says that the peer's device lives. Invisible to the peer's software. */
    void probe() {
        lock.lock();
        try {
            poll(); // on an idle stream nobody else does, and earlier probes would fill the queue
            if (!dead && !endpointGone() && !disconnectWanted && slotFree(0)) {
                // a failure also flushes the receives, which wakes whoever waits
                add(SendBatch.RDMA_WRITE, 0, 0, 0, 0, 0, true);
                post();
            }
        } finally {
            lock.unlock();
        }
    }

    /** No more posts: the connection failed or was disconnected. Any thread. */
    void die() {
        lock.lock();
        try {
            dead = true;
            abandon();
        } finally {
            lock.unlock();
        }
    }

    private void abandon() {
        if (stall != null) {
            stallOver();
        }
        if (!endpointGone()) { // else it may be another connection's by now
            batch.clear();
        }
        deferred = false;
    }

    long granted() {
        return granted;
    }

    int grantBytes() {
        return half;
    }

    int announcedLimit() {
        return announcedLimit;
    }
}
