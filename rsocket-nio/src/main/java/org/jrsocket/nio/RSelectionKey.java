/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelectionKey;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.StreamObserver;

/**
 * The key of one channel in one {@link RSelector}. The channel is one of ours, or one of the JDK's, whose key in the
 * JDK's selector then does the work. Safe for use by many threads.
 */
final class RSelectionKey extends AbstractSelectionKey implements StreamObserver {

    private final RSelector selector;
    private final AbstractSelectableChannel channel;
    final RdmaSelectable member; // null for a channel of the JDK's

    private volatile int interest; // written with this key's monitor held
    private SelectionKey inner; // in the JDK's selector; guarded by this key's monitor, as is the next field
    private int innerInterest;
    private volatile int ready; // written by the selecting thread

    /** The operations found ready in the current selection. For the selecting thread only. */
    int found;
    /** Whether the key was ready and is to be looked at again. For the selecting thread only. */
    boolean again;
    /** Whether this key is polled at every selection. For the selecting thread only. */
    boolean hot;
    /** Whether the stream is armed; the key is not looked at until it has an event. For the selecting thread only. */
    boolean armed;
    /** Whether to poll this hot key: a message arrived, or others saw it change. For the selecting thread only. */
    boolean arrived;
    /** Whether this hot key was ready when last looked at. For the selecting thread only. */
    boolean wasReady;
    /** The number of consecutive selections in which a hot key was not ready. */
    int idleRounds;
    /** The key's index in {@link SelectedKeys}; used only there. */
    int selectedAt = -1;

    /** The stream whose descriptor is in the selector's epoll set. Guarded by the selector's descriptor lock. */
    RdmaStream watched;

    int watchedFd = -1;

    RSelectionKey(RSelector selector, AbstractSelectableChannel channel) {
        this.selector = selector;
        this.channel = channel;
        this.member = channel instanceof RdmaSelectable m ? m : null;
    }

    @Override
    public SelectableChannel channel() {
        return channel;
    }

    @Override
    public Selector selector() {
        return selector;
    }

    Selection selection() {
        return selector.selection();
    }

    private void ensureValid() {
        if (!isValid()) {
            throw new CancelledKeyException();
        }
    }

    // ---- interest ----

    @Override
    public int interestOps() {
        ensureValid();
        return interest;
    }

    @Override
    public SelectionKey interestOps(int ops) {
        ensureValid();
        check(ops);
        synchronized (this) {
            setInterest(ops);
        }
        return this;
    }

    @Override
    public int interestOpsOr(int ops) {
        ensureValid();
        check(ops);
        synchronized (this) {
            int before = interest;
            setInterest(before | ops);
            return before;
        }
    }

    @Override
    public int interestOpsAnd(int ops) {
        ensureValid();
        synchronized (this) {
            int before = interest;
            setInterest(before & ops);
            return before;
        }
    }

    private void check(int ops) {
        if ((ops & ~channel.validOps()) != 0) {
            throw new IllegalArgumentException();
        }
    }

    /** Called with this key's monitor held. */
    private void setInterest(int ops) {
        if (ops != interest) {
            selector.ensureOpen();
            interest = ops;
            refresh();
        }
    }

    /** Sets the first interest. Unlike later, it is no error if the key or selector has been closed in the meantime. */
    synchronized void start(int ops) {
        interest = ops;
        refresh();
    }

    /** Returns the interest, whether or not the key is valid. */
    int interest() {
        return interest;
    }

    /** Passes a changed interest or channel state on to the JDK's selector, and has ours look at the key. */
    void refresh() {
        synchronized (this) {
            if (inner != null) {
                int ops = member == null ? interest : member.tcpInterest(interest);
                if (ops != innerInterest) {
                    int before = innerInterest;
                    innerInterest = ops;
                    try {
                        inner.interestOps(ops);
                    } catch (CancelledKeyException | ClosedSelectorException e) {
                        // the inner one is closed; the outer one is about to be
                    }
                    selection().innerInterest(before, ops); // last: before that, there would be nothing to take over
                }
            }
        }
        if (member != null) {
            selection().lookAt(this);
        }
    }

    // ---- the key in the JDK's selector ----

    /** Sets the inner key, once. It has no interest yet. */
    synchronized void inner(SelectionKey key) {
        inner = key;
    }

    /**
     * Has the JDK's selector watch the channel's TCP channel, without interest as yet. Does nothing if the key has
     * ended, or is about to end because its selector or the TCP channel is closed.
     */
    void watchTcp(SelectableChannel tcp) {
        if (!isValid()) {
            return; // and the channel may be blocking
        }
        try {
            inner(tcp.register(selector.jdk(), 0, this));
        } catch (ClosedChannelException | ClosedSelectorException e) {
            // closed inside, and soon outside: that cancels the key
        }
    }

    /** Cancels the key in the JDK's selector, which forgets it at its next selection. Harmless when repeated. */
    synchronized void cancelInner() {
        if (inner != null) {
            inner.cancel();
            selection().innerInterest(innerInterest, 0);
            innerInterest = 0;
            inner = null;
        }
    }

    // ---- readiness ----

    @Override
    public int readyOps() {
        ensureValid();
        return ready;
    }

    /** Returns what {@link #readyOps} returns for a valid key, whether or not this key is valid. */
    int ready() {
        return ready;
    }

    /** Sets the ready operations. For the selecting thread only. */
    void ready(int ops) {
        ready = ops;
    }

    @Override
    public void onProgress() {
        if (!selection().isLooking() && member.mayBeReady(interest)) {
            selection().lookAt(this);
        }
    }

    /** Has the selector look and arm again: another selector took the stream's events, so it is no longer armed. */
    void onEventsTaken() {
        if (interest != 0) {
            selection().lookAt(this);
        }
    }

    @Override
    @SuppressWarnings("ObjectToString") // like the JDK's keys, which tell selectors apart by nothing else
    public String toString() {
        String state = isValid() ? "interestOps=" + interest + ", readyOps=" + ready : "invalid";
        return "channel=" + channel + ", selector=" + selector + ", " + state;
    }

    // ---- the selector's queue of keys to look at, see UpdateQueue ----

    RSelectionKey nextInQueue;
    volatile boolean queued;
}
