/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import com.ibm.disni.verbs.IbvQPInitAttr;
import java.io.IOException;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.verbs.Qp;
import org.jrsocket.verbs.RecvBatch;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.WcBatch;

/**
 * An RC queue pair. Its state is INIT when it is made, RTS when its id is connected, ERR after {@link #toError()} or a
 * failure, and RESET once it is destroyed. From the moment the connection is accepted, both queue pairs of a connection
 * share one lock, which guards the state and the queues of both.
 */
public class LoopbackQp extends Qp {

    private static final int RNR_TIMERS = 32;

    private final LoopbackProvider provider;
    private final LoopbackDevice device;
    private final int number;
    private final LoopbackPd domain;
    private final LoopbackCq sends;
    private final LoopbackCq receives;
    private final boolean signalAll;
    final SendQueue sq;
    final ReceiveQueue rq;
    /** The messages that were sent and have arrived. Raised under lock. */
    final Counter messages = new Counter();

    private volatile SpinLock lock = new SpinLock();
    private volatile int current = IBV_QPS_INIT; // written under lock
    private LoopbackQp peer; // guarded by lock
    private int retries = 7; // guarded by lock
    private int rnrRetries = 7; // guarded by lock
    private boolean dead; // guarded by lock
    /** Whether the oldest message cannot move; code that changes the reason calls {@link #kick}. Guarded by lock. */
    boolean stalled;
    /** Whether the oldest message was counted as RNR. Guarded by lock. */
    boolean rnrCounted;

    private boolean timing; // guarded by lock: a retry timer runs
    /** Whether this is in the wire's queue. Guarded by the wire's lock. */
    boolean onWire;

    private volatile int minRnrTimer;
    private volatile int ackTimeout;

    private final ThreadLocal<Integer> postError = ThreadLocal.withInitial(() -> 0);
    private final OneAtATime sender;
    private final OneAtATime receiver;

    LoopbackQp(LoopbackPd domain, IbvQPInitAttr attr, int sendSlots, int receiveSlots, int number) throws IOException {
        super(number);
        this.number = number;
        this.domain = domain;
        this.device = domain.device();
        this.provider = device.provider();
        this.sends = (LoopbackCq) attr.getSend_cq();
        this.receives = (LoopbackCq) attr.getRecv_cq();
        this.signalAll = attr.getSq_sig_all() != 0;
        this.sq = new SendQueue(
                sendSlots, attr.cap().getMax_send_sge(), attr.cap().getMax_inline_data());
        this.rq = new ReceiveQueue(receiveSlots);
        this.sender = new OneAtATime("posting to one send queue", provider.registry());
        this.receiver = new OneAtATime("posting to one receive queue", provider.registry());
        context = device;
        pd = domain;
        send_cq = sends;
        recv_cq = receives;
        qp_type = IBV_QPT_RC;
        sends.users.incrementAndGet();
        receives.users.incrementAndGet();
        domain.qps.add(this);
        provider.registry().add(Registry.Kind.QP, this);
    }

    // For tests.

    public int number() {
        return number;
    }

    /** Returns the state, one of {@code IBV_QPS_}. */
    public int currentState() {
        return current;
    }

    /** Returns how many receives are posted and not consumed. */
    public int postedReceives() {
        lock();
        try {
            return (int) (rq.posted - rq.consumed);
        } finally {
            unlock();
        }
    }

    /** Returns how many posted messages have not arrived yet. */
    public int pendingSends() {
        lock();
        try {
            return (int) (sq.posted - sq.arrived);
        } finally {
            unlock();
        }
    }

    // Locking.

    void lock() {
        while (true) {
            SpinLock candidate = lock;
            candidate.lock();
            if (candidate == lock) {
                return;
            }
            candidate.unlock(); // the queue pair was joined with its peer in the meantime
        }
    }

    void unlock() {
        lock.unlock();
    }

    boolean isLocked() {
        return lock.isHeld();
    }

    /** Waits until all threads have left that were inside when it was called. */
    void barrier() {
        lock();
        unlock();
    }

    /** Makes this and {@code other} the ends of a connection. */
    void join(LoopbackQp other) {
        LoopbackQp first = number < other.number ? this : other;
        LoopbackQp second = first == this ? other : this;
        first.lock();
        second.lock();
        SpinLock secondLock = second.lock;
        first.peer = second;
        second.peer = first;
        second.lock = first.lock;
        secondLock.unlock();
        first.unlock();
    }

    // Posting.

    @Override
    public int postSend(SendBatch batch) {
        provider.faults().awaitSend(device);
        int posted = 0;
        int errno = 0;
        boolean alone = sender.enter();
        lock();
        try {
            if (current != IBV_QPS_RTS && current != IBV_QPS_ERR) {
                errno = wrongState();
            }
            Wire wire = provider.wire();
            while (errno == 0 && posted < batch.size()) {
                errno = sq.add(batch, posted, device.isIwarp(), wire.stamp());
                if (errno == 0) {
                    posted++;
                }
            }
            if (posted > 0) {
                if (current == IBV_QPS_ERR) {
                    flush();
                } else {
                    wire.ready(this);
                }
            }
        } finally {
            unlock();
            sender.leave(alone);
        }
        return result(posted, errno);
    }

    @Override
    public int postReceives(int count) {
        return postReceives(count, 0, 0, 0);
    }

    @Override
    public int postReceives(int count, long address, int length, int lkey) {
        int posted = 0;
        boolean alone = receiver.enter();
        lock();
        int errno = current == IBV_QPS_RESET ? wrongState() : length < 0 ? Errno.EINVAL : 0;
        try {
            while (errno == 0 && posted < count) {
                if (rq.add(0, address + (long) posted * length, length, lkey)) {
                    posted++;
                } else {
                    errno = Errno.ENOMEM;
                }
            }
            receivesPosted();
        } finally {
            unlock();
            receiver.leave(alone);
        }
        return result(posted, errno);
    }

    @Override
    public int postRecv(RecvBatch batch) {
        int posted = 0;
        boolean alone = receiver.enter();
        lock();
        int errno = current == IBV_QPS_RESET ? wrongState() : 0;
        try {
            while (errno == 0 && posted < batch.size()) {
                int sges = batch.sgeCount(posted);
                int length = sges == 0 ? 0 : batch.sgeLength(posted, 0);
                if (sges > 1 || length < 0) {
                    errno = Errno.EINVAL;
                } else if (rq.add(
                        batch.id(posted),
                        sges == 0 ? 0 : batch.sgeAddress(posted, 0),
                        length,
                        sges == 0 ? 0 : batch.sgeLkey(posted, 0))) {
                    posted++;
                } else {
                    errno = Errno.ENOMEM;
                }
            }
            receivesPosted();
        } finally {
            unlock();
            receiver.leave(alone);
        }
        return result(posted, errno);
    }

    private void receivesPosted() {
        if (current == IBV_QPS_ERR) {
            flush();
        } else if (peer != null) {
            peer.kick();
        }
    }

    private int wrongState() {
        if (current == IBV_QPS_RESET) {
            provider.registry().violation("post to a destroyed queue pair");
        }
        return Errno.EINVAL;
    }

    private int result(int posted, int errno) {
        if (errno != 0) {
            postError.set(errno);
        }
        return posted;
    }

    @Override
    public int postError() {
        return postError.get();
    }

    /**
     * Gives back slots when a completion is polled: those of so many sends, or -1 for a receive. Called with the lock
     * of the completion queue held.
     */
    void freed(int slots) {
        if (slots > 0) {
            sq.freed.add(slots);
        } else {
            rq.freed.add(-slots);
        }
    }

    // Completing; with the lock held.

    /** Completes the oldest request of the send queue; silently, if it succeeded and did not ask for a completion. */
    void completeSend(int status) {
        assert isLocked();
        int slot = sq.slot(sq.completed++);
        sq.silent++;
        if (status == WcBatch.SUCCESS && !signalAll && !sq.isSignaled(slot)) {
            return;
        }
        boolean write = sq.opcode(slot) <= SendBatch.RDMA_WRITE_WITH_IMM;
        boolean ok = status == WcBatch.SUCCESS;
        sends.push(
                this,
                sq.silent,
                sq.id(slot),
                status,
                ok ? write ? 1 : 0 : Transfer.UNDEFINED,
                0,
                ok ? 0 : Transfer.UNDEFINED,
                0);
        sq.silent = 0;
    }

    /** Completes the oldest receive. Everything except id and status is nonsense unless it succeeded. */
    void completeReceive(int status, int opcode, int length, int imm, int flags) {
        assert isLocked();
        long id = rq.id();
        rq.consumed++;
        boolean ok = status == WcBatch.SUCCESS;
        receives.push(
                this,
                -1,
                id,
                status,
                ok ? opcode : Transfer.UNDEFINED,
                ok ? length : Transfer.UNDEFINED,
                ok ? imm : Transfer.UNDEFINED,
                ok ? flags : Transfer.UNDEFINED);
    }

    private void flush() {
        if (dead) {
            return;
        }
        while (sq.completed < sq.posted) {
            completeSend(WcBatch.FLUSHED);
        }
        sq.arrived = sq.posted;
        while (!rq.isEmpty()) {
            completeReceive(WcBatch.FLUSHED, 0, 0, 0, 0);
        }
    }

    /**
     * Fails the oldest message that has not arrived, and with it the queue pair. That acknowledges what arrived before
     * it.
     */
    void failHead(int status) {
        assert isLocked();
        while (sq.completed < sq.arrived) {
            completeSend(WcBatch.SUCCESS);
        }
        sq.arrived++;
        completeSend(status);
        enterError();
    }

    void enterError() {
        assert isLocked();
        if (current == IBV_QPS_ERR || current == IBV_QPS_RESET) {
            return;
        }
        current = IBV_QPS_ERR;
        flush();
        if (peer != null) {
            peer.kick(); // what it sends is no longer answered
        }
    }

    /** Tries again to move what is posted here, because the peer has changed. */
    void kick() {
        assert isLocked();
        stalled = false;
        if (sq.hasWork() && current == IBV_QPS_RTS) {
            provider.wire().ready(this);
        }
    }

    void releaseAcks() {
        lock();
        try {
            while (sq.completed < sq.arrived && !dead) {
                completeSend(WcBatch.SUCCESS);
            }
        } finally {
            unlock();
        }
    }

    // What a transfer asks; with the lock held.

    boolean maySend() {
        return current == IBV_QPS_RTS && !dead;
    }

    /** Returns whether this queue pair answers what it receives. */
    boolean answers() {
        return !dead && (current == IBV_QPS_RTR || current == IBV_QPS_RTS);
    }

    LoopbackQp peer() {
        return peer;
    }

    LoopbackPd domain() {
        return domain;
    }

    LoopbackProvider provider() {
        return provider;
    }

    boolean waitsForReceives() {
        return rnrRetries == 7;
    }

    /** Gives up after the retry timeout, unless the peer, which does not answer now, answers by then. */
    void startRetryTimer() {
        assert isLocked();
        if (timing || provider.retryForever() && retries == 7) {
            return;
        }
        timing = true;
        provider.timers().schedule(provider.retryTimeoutMillis(), () -> {
            lock();
            try {
                timing = false;
                if (maySend() && sq.hasWork() && (peer == null || !peer.answers())) {
                    failHead(WcBatch.RETRY_EXCEEDED);
                }
            } finally {
                unlock();
            }
        });
    }

    // What the connection manager does.

    /**
     * Learns what the two ends said of themselves in their private data, when the connection is accepted.
     *
     * @param connecting whether this is the end that connects
     */
    void introduced(byte[] mine, byte[] peers, boolean connecting) {
        // of no use to a device that carries bytes
    }

    /** Moves to RTS, with the parameters that the peer's message carried. */
    void connected(int retryCount, int rnrRetryCount) {
        lock();
        try {
            if (current == IBV_QPS_INIT) {
                current = IBV_QPS_RTS;
                retries = retryCount;
                rnrRetries = rnrRetryCount;
                if (peer != null) {
                    peer.kick();
                }
            }
        } finally {
            unlock();
        }
    }

    /** Moves to the error state by itself. */
    void fail() {
        lock();
        try {
            enterError();
        } finally {
            unlock();
        }
    }

    void kill() {
        lock();
        try {
            dead = true;
            if (peer != null) {
                peer.kick();
            }
        } finally {
            unlock();
        }
    }

    void destroy() {
        lock();
        try {
            if (current == IBV_QPS_RESET) {
                return;
            }
            current = IBV_QPS_RESET;
            isOpen = false;
            if (peer != null) {
                peer.kick();
            }
        } finally {
            unlock();
        }
        sends.users.decrementAndGet();
        receives.users.decrementAndGet();
        domain.qps.remove(this);
        provider.gone(this);
    }

    // The rest of the seam.

    @Override
    public void toError() throws IOException {
        if (current == IBV_QPS_RESET) {
            provider.registry().violation("destroyed queue pair moved to error");
            throw new IllegalStateException("queue pair was destroyed");
        }
        fail();
    }

    @Override
    public void setMinRnrTimer(int code) throws IOException {
        if (code < 0 || code >= RNR_TIMERS || current != IBV_QPS_RTS) {
            throw new ErrnoException("ibv_modify_qp", "RNR timer " + code, Errno.EINVAL);
        }
        minRnrTimer = code;
    }

    /** Returns what {@link #setMinRnrTimer} set. */
    @Override
    public int minRnrTimer() {
        return minRnrTimer;
    }

    @Override
    public int ackTimeout() {
        return ackTimeout;
    }

    /** Sets what the id was told before the connection was made. */
    void ackTimeout(int value) {
        ackTimeout = value;
    }

    @Override
    public int getState() {
        return current;
    }

    @Override
    public String toString() {
        return "QP " + number + " on " + device + " state " + current;
    }
}
