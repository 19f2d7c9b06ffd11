/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.InterruptedByTimeoutException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * One direction of a channel, in which one operation at a time is in progress. The operation tries at once, and again
 * whenever the selector reports it ready; between tries it <em>waits</em>, and only then may a close or its time limit
 * take it.
 *
 * <p>The lock is the channel's {@link Readiness}.
 */
abstract class Transfer {

    private final AsynchronousChannel channel;
    private final RAsynchronousChannelGroup group;
    private final Readiness lock;
    private final Connecting connecting;
    private final int op; // of the selection key

    // Guarded by lock.
    private boolean busy;
    private boolean waiting;
    private boolean killed;
    private boolean shut;
    private boolean late; // timed out during a try
    private long serial; // identifies the operation that the timer is for

    // Of the operation in progress: accessed by the thread that has it, as busy and waiting tell.
    private ByteBuffer one; // or null
    private ByteBuffer[] many;
    private CompletionHandler<Object, Object> handler; // or null
    private Object attachment;
    private PendingFuture<Object> future; // or null
    private Future<?> timer; // or null

    /** @param channel the one that the application has */
    Transfer(
            AsynchronousChannel channel,
            RAsynchronousChannelGroup group,
            Readiness lock,
            Connecting connecting,
            int op) {
        this.channel = channel;
        this.group = group;
        this.lock = lock;
        this.connecting = connecting;
        this.op = op;
    }

    /** Moves what can be moved without waiting, and returns what the channel's call returns. */
    abstract long attempt(ByteBuffer one) throws IOException;

    /** Does the same with several buffers. */
    abstract long attempt(ByteBuffer[] many) throws IOException;

    /** Returns how an operation fails once this direction is shut; null if it finds the end of the stream. */
    abstract IOException afterShut();

    /** Returns what to throw while another operation is in progress. */
    abstract IllegalStateException pending();

    /** Returns the message for operations after a timeout or a cancellation. */
    abstract String refusal();

    // ---- starting ----

    /**
     * Starts an operation for the application.
     *
     * @param one null if there are {@code many}
     * @param many null if there is {@code one}
     * @param timeout 0 or less for no limit
     * @param handler null for a future
     * @return the future, or null
     */
    <A> Future<?> submit(
            ByteBuffer one,
            ByteBuffer[] many,
            long timeout,
            TimeUnit unit,
            A attachment,
            CompletionHandler<?, ? super A> handler) {
        if (!channel.isOpen()) {
            return tell(many, 0, new ClosedChannelException(), attachment, handler);
        }
        connecting.ensureConnected();
        return switch (admit(many != null || one.hasRemaining())) {
            case SHUT -> tell(many, -1, afterShut(), attachment, handler);
            case NOTHING_TO_DO -> tell(many, 0, null, attachment, handler);
            case ADMITTED -> start(one, many, timeout, unit, attachment, handler);
        };
    }

    /** Reports an operation that is complete at once. */
    @SuppressWarnings("unchecked") // the handler accepts what its operation returns
    private <A> Future<?> tell(
            ByteBuffer[] many, long n, Throwable failure, A attachment, CompletionHandler<?, ? super A> handler) {
        Object value = failure == null ? value(many, n) : null;
        return Handlers.tellAtOnce(group, (CompletionHandler<Object, ? super A>) handler, attachment, value, failure);
    }

    private enum Admission {
        ADMITTED,
        SHUT,
        NOTHING_TO_DO
    }

    /** Admits an operation now, or not at all: it does not wait for its turn. */
    private Admission admit(boolean somethingToDo) {
        synchronized (lock) {
            if (killed) {
                throw new IllegalStateException(refusal());
            }
            if (busy) {
                throw pending();
            }
            if (shut) {
                return Admission.SHUT;
            }
            if (!somethingToDo) {
                return Admission.NOTHING_TO_DO;
            }
            busy = true;
            return Admission.ADMITTED;
        }
    }

    /** Starts an operation that was admitted. */
    @SuppressWarnings("unchecked") // the handler of the caller's attachment
    private <A> Future<?> start(
            ByteBuffer one,
            ByteBuffer[] many,
            long timeout,
            TimeUnit unit,
            A attachment,
            CompletionHandler<?, ? super A> handler) {
        this.one = one;
        this.many = many;
        this.handler = (CompletionHandler<Object, Object>) handler;
        this.attachment = attachment;
        long n = 0;
        Throwable failure = null;
        try {
            n = attempt();
        } catch (Throwable e) {
            failure = e;
        }
        if (failure == null && isUnfinished(n)) {
            PendingFuture<Object> result = handler == null ? new PendingFuture<>(channel, this::kill) : null;
            try {
                failure = suspend(result, timeout, unit);
            } catch (RuntimeException | Error e) { // a caller that gets this need not expect a call of the handler
                release(false);
                throw e;
            }
            if (failure == null) {
                return result;
            }
        }
        return finishAtOnce(n, Handlers.translate(failure));
    }

    /** Waits like {@link Readiness#await}, with a time limit if there is one. */
    private Throwable suspend(PendingFuture<Object> result, long timeout, TimeUnit unit) {
        synchronized (lock) {
            if (timeout > 0) { // first, as it may fail
                long mine = ++serial;
                timer = group.schedule(() -> expire(mine), timeout, unit);
            }
            Throwable failure = suspend();
            if (failure == null) {
                future = result;
            } else if (timer != null) {
                timer.cancel(false);
            }
            return failure;
        }
    }

    private Future<?> finishAtOnce(long n, Throwable failure) {
        ByteBuffer[] of = many;
        CompletionHandler<Object, Object> told = handler;
        Object with = attachment;
        release(false);
        return tell(of, n, failure, with, told);
    }

    private long attempt() throws IOException {
        return many == null ? attempt(one) : attempt(many);
    }

    private boolean isUnfinished(long n) {
        if (n != 0) {
            return false;
        }
        return many == null ? one.hasRemaining() : hasRemaining(many);
    }

    static boolean hasRemaining(ByteBuffer[] many) {
        for (ByteBuffer each : many) {
            if (each.hasRemaining()) {
                return true;
            }
        }
        return false;
    }

    /** Returns an Integer for one buffer, a Long for many. */
    private static Object value(ByteBuffer[] many, long n) {
        if (many == null) {
            return (int) n;
        }
        return n;
    }

    /** Waits like {@link Readiness#await}. Called with the lock held. */
    private Throwable suspend() {
        Throwable failure = lock.await(op);
        if (failure == null) {
            waiting = true;
        }
        return failure;
    }

    // ---- going on ----

    /** Takes the operation that waits, if any. Returns whether there was one, which now belongs to the caller. */
    boolean take() {
        synchronized (lock) {
            if (!waiting) {
                lock.giveUp(op);
                return false;
            }
            waiting = false;
            return true;
        }
    }

    /** Tries again, after {@link #take}. */
    void proceed(boolean direct) {
        Object value = null;
        Throwable failure = null;
        boolean timedOut = false;
        try {
            long n = attempt();
            if (isUnfinished(n)) {
                synchronized (lock) {
                    timedOut = late;
                    failure = late ? new InterruptedByTimeoutException() : suspend();
                    if (failure == null) {
                        return;
                    }
                }
            } else {
                value = value(many, n);
            }
        } catch (Throwable e) { // lack of memory, too: nobody else would tell of the operation
            failure = e;
        }
        finish(value, Handlers.translate(failure), timedOut, direct);
    }

    /** Ends an operation that belongs to the caller: it was taken, or its time limit took it. */
    private void finish(Object value, Throwable failure, boolean timedOut, boolean direct) {
        CompletionHandler<Object, Object> told = handler;
        Object with = attachment;
        PendingFuture<Object> result = future;
        Future<?> limit = timer;
        release(timedOut);
        if (limit != null) {
            limit.cancel(false);
        }
        Handlers.tell(group, result, told, with, value, failure, direct);
    }

    /** Releases the operation, so that the next one may start. */
    private void release(boolean kill) {
        synchronized (lock) {
            one = null;
            many = null;
            handler = null;
            attachment = null;
            future = null;
            timer = null;
            late = false;
            serial++;
            busy = false;
            killed |= kill;
        }
    }

    private void expire(long ofSerial) {
        synchronized (lock) {
            if (serial != ofSerial) {
                return;
            }
            if (!waiting) {
                late = true; // it is trying now, perhaps in vain
                return;
            }
            waiting = false;
        }
        finish(null, Handlers.failure(InterruptedByTimeoutException::new), true, false);
    }

    // ---- ends ----

    /** Fails an operation that was taken, because the channel is closed. */
    void fail(Throwable failure) {
        finish(null, failure, false, false);
    }

    /** Refuses further operations, because no one knows how far the last one got. */
    void kill() {
        synchronized (lock) {
            killed = true;
        }
    }

    /** @return false if it was already shut */
    boolean shut() {
        synchronized (lock) {
            boolean first = !shut;
            shut = true;
            return first;
        }
    }

    boolean isShut() {
        synchronized (lock) {
            return shut;
        }
    }
}
