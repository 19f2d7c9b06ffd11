/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.ShutdownChannelGroupException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Calls completion handlers, only on threads of the channel's group. A thread of the group that starts an operation
 * which completes at once calls the handler itself, but only a limited number of times in one turn, because the stack
 * is limited and other channels are waiting. After that, and on other threads, the pool calls it.
 */
final class Handlers {

    /** The group of a channel, whose threads call the channel's handlers. */
    interface Group {

        /**
         * Runs a task on a thread of the pool.
         *
         * @throws RejectedExecutionException if the pool has ended
         */
        void executeOnPool(Runnable task);
    }

    /** The most handlers that a thread calls in one turn; the JDK's setting. */
    private static final int MOST = Math.max(1, Integer.getInteger("sun.nio.ch.maxCompletionHandlersOnStack", 16));

    /** The pause where memory is lacking to report something: twice as long after each that follows. */
    private static final long SHORTEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1); // a JVM prints a line for each thread

    /** The number of handlers that a thread of a group has called since its turn began. */
    private static final class Turn {
        final Group group;
        int calls;

        Turn(Group group) {
            this.group = group;
        }
    }

    /** Calls a handler once: a pool may keep a task although it could not create a thread for it. */
    private static final class Call<V, A> implements Runnable {
        private final CompletionHandler<V, ? super A> handler;
        private final A attachment;
        private final V value;
        private final Throwable failure;
        private boolean ran; // guarded by this

        Call(CompletionHandler<V, ? super A> handler, A attachment, V value, Throwable failure) {
            this.handler = handler;
            this.attachment = attachment;
            this.value = value;
            this.failure = failure;
        }

        @Override
        public void run() {
            synchronized (this) {
                if (ran) {
                    return;
                }
                ran = true;
            }
            call(handler, attachment, value, failure);
        }
    }

    private static final ThreadLocal<Turn> TURN = new ThreadLocal<>();

    private Handlers() {}

    /** Begins a turn of the calling thread, which is one of the group's pool. */
    static void begin(Group group) {
        Turn turn = TURN.get();
        if (turn == null || turn.group != group) {
            TURN.set(new Turn(group));
        } else {
            turn.calls = 0;
        }
    }

    /**
     * Reports an operation that is complete at once. Called by the thread that started it.
     *
     * @param handler null for a future
     * @return the future, or null
     */
    static <V, A> Future<V> tellAtOnce(
            Group group, CompletionHandler<V, ? super A> handler, A attachment, V value, Throwable failure) {
        if (handler == null) {
            return PendingFuture.of(value, failure);
        }
        deliver(group, handler, attachment, value, failure);
        return null;
    }

    /**
     * Reports an operation that had to wait. Nobody else knows its outcome, so this waits until there is memory to hand
     * it on. Called without a lock.
     *
     * @param future null if there is a handler
     * @param handler null if there is a future
     * @param direct whether this thread may call handlers
     * @return false if no one will ever get the value, because the future has been cancelled
     */
    static <V> boolean tell(
            Group group,
            PendingFuture<V> future,
            CompletionHandler<V, Object> handler,
            Object attachment,
            V value,
            Throwable failure,
            boolean direct) {
        if (handler != null && direct) {
            call(handler, attachment, value, failure);
            return true;
        }
        Runnable call = null;
        for (long pause = SHORTEST_PAUSE_NANOS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS)) {
            try {
                if (handler == null) {
                    return future.set(value, failure);
                }
                if (call == null) {
                    call = new Call<>(handler, attachment, value, failure);
                }
                handOver(group, call);
                return true;
            } catch (OutOfMemoryError e) {
                LockSupport.parkNanos(pause);
            }
        }
    }

    /** Returns a failure, or the lack of memory for it: whoever waits has to hear something. */
    static Throwable failure(Supplier<? extends Throwable> maker) {
        try {
            return maker.get();
        } catch (OutOfMemoryError e) {
            return e;
        }
    }

    /** Returns what to report if the channel was closed during an operation; other failures are returned unchanged. */
    static Throwable translate(Throwable failure) {
        return failure instanceof ClosedChannelException && !(failure instanceof AsynchronousCloseException)
                ? failure(AsynchronousCloseException::new)
                : failure;
    }

    /** Calls the handler: at once if this is a thread of the group that has not called too many, else on the pool. */
    private static <V, A> void deliver(
            Group group, CompletionHandler<V, ? super A> handler, A attachment, V value, Throwable failure) {
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
     * Hands the call of a handler over to a thread of the pool.
     *
     * @throws ShutdownChannelGroupException if the pool has ended
     */
    static <V, A> void handOver(
            Group group, CompletionHandler<V, ? super A> handler, A attachment, V value, Throwable failure) {
        handOver(group, new Call<>(handler, attachment, value, failure));
    }

    private static void handOver(Group group, Runnable call) {
        try {
            group.executeOnPool(call);
        } catch (RejectedExecutionException e) {
            ShutdownChannelGroupException shutdown = new ShutdownChannelGroupException();
            shutdown.initCause(e);
            throw shutdown;
        }
    }

    /** Calls a handler. Called by a thread of the pool. */
    static <V, A> void call(CompletionHandler<V, ? super A> handler, A attachment, V value, Throwable failure) {
        if (failure == null) {
            handler.completed(value, attachment);
        } else {
            handler.failed(failure, attachment);
        }
        Thread.interrupted(); // an interrupt that this handler left behind is not for the next
    }
}
