/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;

/**
 * The registration of one channel with its group's selector. Its monitor is the channel's lock, which guards the key
 * and the operations that wait.
 *
 * <p>An interest is given up late: when the selector reports it and no operation waits. So a channel that is read again
 * and again never has its key changed. What is found before an earlier find has been handled is given up at once,
 * because otherwise the selector would find it over and over.
 */
final class Readiness {

    /** The handler of what is ready: the channel that the application has. */
    interface Handler {
        /** Returns whether operations may still wait. */
        boolean isOpen();

        /**
         * @param ops the ready operations of the selection key
         * @param direct whether this thread may call handlers
         */
        void onReady(int ops, boolean direct);
    }

    private final Selector selector;
    private final SelectableChannel channel;
    private final Handler handler;

    private SelectionKey key; // null until the first wait; guarded by this, as are the next two
    private int armed;
    private int found; // and not handled yet

    /** The operations that the selecting thread has just found; used only by that thread. */
    int seen;

    /** The next of those that are ready; guarded by the lock of the group's threads. */
    Readiness next;

    Readiness(Selector selector, SelectableChannel channel, Handler handler) {
        this.selector = selector;
        this.channel = channel;
        this.handler = handler;
    }

    /**
     * Has these operations reported from now on. Called with this monitor held.
     *
     * @return null, or how the operation that wants to wait fails, because the channel or the group is closed
     */
    AsynchronousCloseException await(int ops) {
        assert Thread.holdsLock(this);
        if (!handler.isOpen()) {
            return new AsynchronousCloseException();
        }
        try {
            if (key == null) {
                key = channel.register(selector, ops, this);
                armed = ops;
            } else {
                arm(armed | ops);
            }
            return null;
        } catch (ClosedChannelException | CancelledKeyException | ClosedSelectorException e) {
            AsynchronousCloseException closed = new AsynchronousCloseException();
            closed.initCause(e);
            return closed;
        }
    }

    private void arm(int ops) {
        if (ops != armed) {
            key.interestOps(ops); // a selector of ours sees it at once, wherever it is
            armed = ops; // only now: that may fail
        }
    }

    /** Stops reporting operations for which nothing waits any more. Called with this monitor held. */
    void giveUp(int ops) {
        assert Thread.holdsLock(this);
        if (key != null && (armed & ops) != 0) {
            try {
                arm(armed & ~ops);
            } catch (CancelledKeyException | ClosedSelectorException e) {
                // closed, so nothing is reported any more
            }
        }
    }

    /** Records what was found. Returns whether it is to be handled. Called by the selecting thread. */
    synchronized boolean found() {
        if (found == 0) {
            found = seen;
            return true;
        }
        found |= seen;
        giveUp(seen);
        return false;
    }

    /** @param direct whether this thread may call handlers */
    void handle(boolean direct) {
        int ops;
        synchronized (this) {
            ops = found;
            found = 0;
        }
        handler.onReady(ops, direct);
    }

    /** Returns whether the selector knows the channel, and has to be told of its end. */
    synchronized boolean isRegistered() {
        return key != null;
    }
}
