/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import com.ibm.disni.verbs.IbvCQ;
import java.io.IOException;

/**
 * A completion queue. Polls and arms of one queue may come from several threads; none of them may follow
 * {@code destroyCQ}.
 */
public abstract class Cq extends IbvCQ {

    private volatile boolean failed;

    protected Cq(Device device, CompChannel channel, int handle) throws IOException {
        super(device, channel, handle);
    }

    /**
     * Takes completions into {@code batch} ({@code ibv_poll_cq}). One JNI crossing, no allocation.
     *
     * @return how many were taken, 0 if there are none, or a negative errno
     */
    public abstract int poll(WcBatch batch);

    /**
     * Waits until something has completed or {@code nanos} have passed, in one JNI crossing. Takes nothing: the next
     * {@link #poll}, by any thread, does.
     *
     * @return whether that poll takes something or fails
     */
    public abstract boolean spin(long nanos);

    /**
     * Asks for one event on the channel at the next completion of any kind ({@code ibv_req_notify_cq}). A completion
     * that arrived before the call raises no event: poll again after arming, before sleeping.
     *
     * @return 0 or a negative errno
     */
    public abstract int arm();

    /** Returns whether an {@linkplain Device#takeAsyncEvent event} of this queue's device is about this queue. */
    public final boolean isSubjectOf(int event) {
        return isOpen && event == Device.event(Device.EVENT_CQ_ERR, handle);
    }

    /** Records that the queue has failed: a poll need not say so, and may find nothing for ever. */
    public final void failed() {
        failed = true;
    }

    /** Returns whether the queue is known to have failed. */
    public final boolean hasFailed() {
        return failed;
    }

    /** Does nothing, because {@link CompChannel#takeEvent} has acknowledged the events. */
    @Override
    public final int ackEvents(int count) {
        return 0;
    }

    /** {@code ibv_destroy_cq}. */
    @Override
    public abstract int destroyCQ() throws IOException;
}
