/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.nio.channels.CompletionHandler;
import java.nio.channels.ShutdownChannelGroupException;
import java.util.concurrent.RejectedExecutionException;

/**
 * Calls completion handlers: on threads of the channel's group alone. A thread of the group that starts an operation
 * which is complete at once calls the handler itself, but only so often in one turn: the stack and the patience of
 * other channels have an end. After that, and on other threads, the pool is asked.
 */
final class Handlers {

    /** How many handlers a thread calls in one turn; the JDK's setting. */
    private static final int MOST = Math.max(1, Integer.getInteger("sun.nio.ch.maxCompletionHandlersOnStack", 16));

    /** What a thread of a group has called since its turn began. */
    private static final class Turn {
        final RAsynchronousChannelGroup group;
        int calls;

        Turn(RAsynchronousChannelGroup group) {
            this.group = group;
        }
    }

    private static final ThreadLocal<Turn> TURN = new ThreadLocal<>();

    private Handlers() {}

    /** The calling thread is one of the group's pool, and begins a turn. */
    static void begin(RAsynchronousChannelGroup group) {
        Turn turn = TURN.get();
        if (turn == null || turn.group != group) {
            TURN.set(new Turn(group));
        } else {
            turn.calls = 0;
        }
    }

    /** By the thread that started the operation, which is complete. */
    static <V, A> void deliver(
            RAsynchronousChannelGroup group,
            CompletionHandler<V, ? super A> handler,
            A attachment,
            V value,
            Throwable failure) {
        Turn turn = TURN.get();
        boolean ofGroup = turn != null && turn.group == group;
        if (ofGroup && turn.calls < MOST) {
            turn.calls++;
            call(handler, attachment, value, failure);
            return;
        }
        try {
            handOver(group, handler, attachment, value, failure);
        } catch (ShutdownChannelGroupException e) {
            if (!ofGroup) {
                throw e;
            }
            turn.calls++;
            call(handler, attachment, value, failure);
        }
    }

    /**
     * To a thread of the pool.
     *
     * @throws ShutdownChannelGroupException the pool has ended
     */
    static <V, A> void handOver(
            RAsynchronousChannelGroup group,
            CompletionHandler<V, ? super A> handler,
            A attachment,
            V value,
            Throwable failure) {
        try {
            group.executeOnPool(() -> call(handler, attachment, value, failure));
        } catch (RejectedExecutionException e) {
            ShutdownChannelGroupException shutdown = new ShutdownChannelGroupException();
            shutdown.initCause(e);
            throw shutdown;
        }
    }

    /** By a thread of the pool. */
    static <V, A> void call(CompletionHandler<V, ? super A> handler, A attachment, V value, Throwable failure) {
        if (failure == null) {
            handler.completed(value, attachment);
        } else {
            handler.failed(failure, attachment);
        }
        Thread.interrupted(); // what this handler left behind is not for the next
    }
}
