/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import com.ibm.disni.verbs.IbvQP;
import java.io.IOException;

/**
 * An RC queue pair. Posts to the send queue must not overlap, nor may posts to the receive queue. Destroyed by
 * {@code Cm.destroyQP}, never during a post.
 */
public abstract class Qp extends IbvQP {

    protected Qp(int number) throws IOException {
        super(number);
    }

    /**
     * Posts the batch as one chained list ({@code ibv_post_send}). One JNI crossing, no allocation; the batch can be
     * reused when this returns.
     *
     * @return how many were posted; if fewer than {@code batch.size()}, {@link #postError()} says why
     */
    public abstract int postSend(SendBatch batch);

    /**
     * Posts {@code count} receives without scatter entries, for peers that write with immediate data.
     *
     * @return as {@link #postSend}
     */
    public abstract int postReceives(int count);

    /**
     * Posts {@code count} receives of {@code length} bytes each, at {@code address}, {@code address + length} and so on
     * (iWARP mode).
     *
     * @return as {@link #postSend}
     */
    public abstract int postReceives(int count, long address, int length, int lkey);

    /**
     * Posts receives with ids and scatter entries of their own, as one chained list.
     *
     * @return as {@link #postSend}
     */
    public int postRecv(RecvBatch batch) {
        throw new UnsupportedOperationException("this provider posts plain receives only");
    }

    /** Returns whether an {@linkplain Device#takeAsyncEvent event} of its device is about this queue pair. */
    public final boolean isSubjectOf(int event) {
        int type = Device.eventType(event);
        boolean ofQp = Device.isOfQueue(event) && type != Device.EVENT_CQ_ERR;
        return ofQp && isOpen && event == Device.event(type, qp_num);
    }

    /** Returns the positive errno of the last post that fell short; to be called by the thread that posted. */
    public abstract int postError();

    /**
     * Moves the queue pair to the error state: everything posted completes as flushed. Harmless when repeated. For
     * tests.
     */
    public abstract void toError() throws IOException;

    /**
     * Sets {@code IBV_QP_MIN_RNR_TIMER}: how long the peer waits after an RNR NAK of ours (code of the IB
     * specification, 1 = 10 us).
     */
    public abstract void setMinRnrTimer(int code) throws IOException;

    /** Returns the RNR timer in force. For tests. */
    public abstract int minRnrTimer() throws IOException;

    /** Returns the ACK timeout in force: 4.096 us * 2^value, 0 for ever. For tests. */
    public abstract int ackTimeout() throws IOException;
}
