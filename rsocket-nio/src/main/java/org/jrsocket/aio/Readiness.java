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
 * One channel in its group's selector. Its monitor is the channel's lock: guards the key and the operations that wait.
 *
 * <p>An interest is given up late: when the selector reports it and nobody waits. So a channel that is read again and
 * again never has its key changed. What is found while an earlier find is still to be handled is given up at once, else
 * the selector would find it over and over.
 */
final class Readiness {

    /** What handles it: the channel that the application has. */
    interface Handler {
        /** Whether anybody may still wait. */
        boolean isOpen();

        /**
         * @param ops of the selection key
         * @param direct whether this thread may call handlers
         */
        void onReady(int ops, boolean direct);
    }

    private final Selector selector;
    private final SelectableChannel channel;
    private final Handler handler;

    private SelectionKey key; // null until the first wait; guarded by this, as the next two
    private int armed;
    private int found; // and not handled yet

    /** The selecting thread's: what it has just found. */
    int seen;

    Readiness(Selector selector, SelectableChannel channel, Handler handler) {
        this.selector = selector;
        this.channel = channel;
        this.handler = handler;
    }

    /**
     * From now on these are reported. With this.
     *
     * @return null, or how the operation fails that wants to wait, because the channel or the group is closed
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
            armed = ops;
            key.interestOps(ops); // a selector of ours sees it at once, wherever it is
        }
    }

    /** Nobody waits for these any more. With this. */
    void giveUp(int ops) {
        assert Thread.holdsLock(this);
        if (key != null && (armed & ops) != 0) {
            try {
                arm(armed & ~ops);
            } catch (CancelledKeyException | ClosedSelectorException e) {
                // closed, so it reports nothing any more
            }
        }
    }

    /** By the thread that selects. Returns whether it is to be handled. */
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

    /** Whether the selector knows the channel, and has to be told of its end. */
    synchronized boolean isRegistered() {
        return key != null;
    }
}
