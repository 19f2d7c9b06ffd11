/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import com.ibm.disni.verbs.IbvQPInitAttr;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.WcBatch;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.WireException;

/**
 * A queue pair that does nothing: a post returns at once, requests that ask for a completion have completed, and an
 * {@link IdlePeer} answers. The time that a stream still takes is its own. Until it is connected, and once it has
 * failed, the queue pair is like any other.
 */
final class IdleQp extends LoopbackQp {

    private final IdleCq sends;
    private final IdleCq receives;
    private final int messageBytes;
    private final int ready;
    private volatile IdlePeer other;

    // Ids of completions that have not been taken yet.
    private final long[] ids;
    private int pushed; // written by the poster; the poller reads it behind a fence
    private int taken; // used only by the poller

    IdleQp(
            LoopbackPd domain,
            IbvQPInitAttr attr,
            int sendSlots,
            int receiveSlots,
            int number,
            int messageBytes,
            int ready)
            throws IOException {
        super(domain, attr, sendSlots, receiveSlots, number);
        this.messageBytes = messageBytes;
        this.ready = ready;
        ids = new long[Integer.highestOneBit(sendSlots) * 2];
        sends = (IdleCq) attr.getSend_cq();
        receives = (IdleCq) attr.getRecv_cq();
        sends.add(this);
        if (receives != sends) {
            receives.add(this);
        }
    }

    @Override
    void introduced(byte[] mine, byte[] peers, boolean connecting) {
        try {
            other = new IdlePeer(
                    number(), ConnData.parse(mine), ConnData.parse(peers), connecting ? messageBytes : 0, ready);
        } catch (WireException e) {
            throw new IllegalArgumentException("an idle device carries rsocket only", e);
        }
    }

    private boolean isIdle() {
        return currentState() == IBV_QPS_RTS;
    }

    @Override
    public int postSend(SendBatch batch) {
        if (!isIdle()) {
            return super.postSend(batch);
        }
        IdlePeer peer = other;
        int n = batch.size();
        for (int i = 0; i < n; i++) {
            peer.posted(batch, i);
            if ((batch.flags(i) & SendBatch.SIGNALED) != 0) {
                ids[pushed & ids.length - 1] = batch.id(i);
                VarHandle.releaseFence();
                pushed++;
            }
        }
        return n;
    }

    @Override
    public int postReceives(int count) {
        return isIdle() ? count : super.postReceives(count);
    }

    /** Adds the completions of {@code cq} to the {@code n} in the batch, and returns the new number. */
    int complete(IdleCq cq, WcBatch batch, int n) {
        IdlePeer peer = other;
        if (peer == null) {
            return n;
        }
        int count = n;
        if (cq == sends) {
            VarHandle.acquireFence();
            while (taken != pushed && count < batch.capacity()) {
                batch.set(count++, ids[taken & ids.length - 1], WcBatch.SUCCESS, 1, 0, 0, number(), 0);
                taken++;
            }
        }
        return cq == receives && isIdle() ? peer.receive(batch, count) : count;
    }

    @Override
    void destroy() {
        sends.remove(this);
        receives.remove(this);
        super.destroy();
    }
}
