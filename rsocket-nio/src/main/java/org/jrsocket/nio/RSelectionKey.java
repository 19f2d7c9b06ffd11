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
 * One channel in one {@link RSelector}. Safe for use by many threads. The channel is one of ours or of the JDK's,
 * whose key in the JDK's selector then does the work.
 */
final class RSelectionKey extends AbstractSelectionKey implements StreamObserver {

    private final RSelector selector;
    private final AbstractSelectableChannel channel;
    final RdmaSelectable member; // null for a channel of the JDK's

    private volatile int interest; // written with this key's monitor
    private SelectionKey inner; // in the JDK's selector; guarded by this key's monitor, as the next
    private int innerInterest;
    private volatile int ready; // written by the selecting thread

    /** What of this key was found ready in the selection under way; the selecting thread's. */
    int found;
    /** The selecting thread's: it was ready and is to be looked at again. */
    boolean again;
    /** The selecting thread's: it polls this key at every selection. */
    boolean hot;
    /** The selecting thread's: its stream is armed, and nobody looks at it before that has an event. */
    boolean armed;
    /** The selecting thread's: a message has arrived for this hot key, or others saw it change: to be polled. */
    boolean arrived;
    /** The selecting thread's: this hot key was ready when it was looked at last. */
    boolean wasReady;
    /** Selections in a row in which a hot key had nothing. */
    int idleRounds;
    /** Its place in {@link SelectedKeys}, which alone uses it. */
    int selectedAt = -1;

    /** Guarded by the selector's descriptor lock: the stream whose descriptor is in the selector's epoll set. */
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

    /** With the monitor. */
    private void setInterest(int ops) {
        if (ops != interest) {
            selector.ensureOpen();
            interest = ops;
            refresh();
        }
    }

    /** The first interest; unlike a later one it is no error if key or selector are closed meanwhile. */
    synchronized void start(int ops) {
        interest = ops;
        refresh();
    }

    /** The interest, whether or not the key is valid. */
    int interest() {
        return interest;
    }

    /** The interest or the state of the channel has changed: passes it on to the JDK's selector and has ours look. */
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
                        // closed inside; the outer one is about to be
                    }
                    selection().innerInterest(before, ops); // last: before, there would be nothing to take over
                }
            }
        }
        if (member != null) {
            selection().lookAt(this);
        }
    }

    // ---- the key in the JDK's selector ----

    /** Set once, without interest so far. */
    synchronized void inner(SelectionKey key) {
        inner = key;
    }

    /**
     * Has the JDK's selector watch the channel's TCP channel, without interest so far. Nothing happens to a key that
     * has ended, or is about to because its selector or the TCP channel are closed.
     */
    void watchTcp(SelectableChannel tcp) {
        if (!isValid()) {
            return; // and the channel may be blocking
        }
        try {
            inner(tcp.register(selector.jdk(), 0, this));
        } catch (ClosedChannelException | ClosedSelectorException e) {
            // closed inside, soon outside: the key is cancelled then
        }
    }

    /** Ends the key in the JDK's selector; that selector forgets it at its next selection. Harmless when repeated. */
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

    /** What {@link #readyOps} says, whether or not the key is valid. */
    int ready() {
        return ready;
    }

    /** By the selecting thread. */
    void ready(int ops) {
        ready = ops;
    }

    @Override
    public void onProgress() {
        if (!selection().isLooking() && member.mayBeReady(interest)) {
            selection().lookAt(this);
        }
    }

    /** Another selector took the stream's events, so that it is not armed any more: look, and arm again. */
    void onEventsTaken() {
        if (interest != 0) {
            selection().lookAt(this);
        }
    }

    @Override
    @SuppressWarnings("ObjectToString") // as the JDK's keys, which tell selectors apart by nothing else
    public String toString() {
        String state = isValid() ? "interestOps=" + interest + ", readyOps=" + ready : "invalid";
        return "channel=" + channel + ", selector=" + selector + ", " + state;
    }

    // ---- the selector's queue of keys to look at, see UpdateQueue ----

    RSelectionKey nextInQueue;
    volatile boolean queued;
}
