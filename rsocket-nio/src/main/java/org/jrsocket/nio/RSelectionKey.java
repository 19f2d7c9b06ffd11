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
 * The key of one channel in one of our selectors. The channel is one of ours, or one of the JDK's, whose key in the
 * JDK's selector then does the work. Safe for use by many threads.
 */
final class RSelectionKey extends AbstractSelectionKey implements StreamObserver {

    /** A channel of ours, as selectors see it. All methods may be called by any thread and do not block. */
    interface RdmaSelectable {

        /** Adds a key, which the channel tells from now on of its inner TCP channel, its stream and its progress. */
        void join(RSelectionKey key);

        /** Removes a key that has ended. */
        void leave(RSelectionKey key);

        /** Returns the operations of {@code interest} for which the JDK's selector is to watch the inner channel. */
        int tcpInterest(int interest);

        /**
         * Returns the operations of {@code interest} that are ready, apart from what the JDK's selector sees.
         *
         * @param poll whether to make the progress that is possible without waiting
         */
        int readyOps(int interest, boolean poll);

        /** Returns whether any of {@code interest} may be ready, as far as can be told without progress or a lock. */
        default boolean mayBeReady(int interest) {
            return true;
        }

        /**
         * Tells the other keys that the selector of {@code key} has taken events of the stream: it is no longer armed,
         * so they must look too.
         */
        default void eventsTaken(RSelectionKey key) {}

        /** Returns the stream whose completion channel wakes a selector, or null. */
        RdmaStream stream();
    }

    /** What watches the keys of a selector, as they see it. Any thread may call this. */
    interface Watcher {

        /** Queues a key that may be ready, or whose interest has changed. Must not block. */
        void lookAt(RSelectionKey key);

        /** Returns whether the calling thread is looking for ready keys: it sees what its polls bring by itself. */
        boolean isLooking();

        /** Watches the stream that the key's channel uses from now on. */
        void watch(RSelectionKey key, RdmaStream stream);

        /** Stops watching the key's stream, before that closes. */
        void unwatch(RSelectionKey key);

        /** Returns the JDK's selector, which watches inner channels. */
        Selector jdk();

        /** Notes that a key in the JDK's selector has another interest. */
        void innerInterest(int before, int now);
    }

    private final Selector selector;
    private final Watcher watcher;
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
    /** The key's index in the selected keys of an event loop; used only there. */
    int selectedAt = -1;

    /** The stream whose descriptor is in the selector's epoll set. Guarded by the selector's descriptor lock. */
    RdmaStream watched;

    int watchedFd = -1;

    RSelectionKey(Selector selector, Watcher watcher, AbstractSelectableChannel channel) {
        this.selector = selector;
        this.watcher = watcher;
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
            if (!selector.isOpen()) {
                throw new ClosedSelectorException();
            }
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
                    watcher.innerInterest(before, ops); // last: before that, there would be nothing to take over
                }
            }
        }
        if (member != null) {
            watcher.lookAt(this);
        }
    }

    // ---- what is watched for the key ----

    /** Sets the inner key, once. It has no interest yet. */
    synchronized void inner(SelectionKey key) {
        inner = key;
    }

    /** Has the selector watch the stream that the channel uses from now on. */
    void watch(RdmaStream stream) {
        watcher.watch(this, stream);
    }

    /** Ends that, before the stream closes. */
    void unwatch() {
        watcher.unwatch(this);
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
            inner(tcp.register(watcher.jdk(), 0, this));
        } catch (ClosedChannelException | ClosedSelectorException e) {
            // closed inside, and soon outside: that cancels the key
        }
    }

    /** Cancels the key in the JDK's selector, which forgets it at its next selection. Harmless when repeated. */
    synchronized void cancelInner() {
        if (inner != null) {
            inner.cancel();
            watcher.innerInterest(innerInterest, 0);
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
        if (!watcher.isLooking() && member.mayBeReady(interest)) {
            watcher.lookAt(this);
        }
    }

    /** Has the selector look and arm again: another selector took the stream's events, so it is no longer armed. */
    void onEventsTaken() {
        if (interest != 0) {
            watcher.lookAt(this);
        }
    }

    @Override
    @SuppressWarnings("ObjectToString") // like the JDK's keys, which tell selectors apart by nothing else
    public String toString() {
        String state = isValid() ? "interestOps=" + interest + ", readyOps=" + ready : "invalid";
        return "channel=" + channel + ", selector=" + selector + ", " + state;
    }

    // ---- the selector's queue of keys to look at ----

    RSelectionKey nextInQueue;
    volatile boolean queued;
}
