/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.InterruptedByTimeoutException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * One direction of a channel, in which one operation at a time is on its way. The operation tries at once, and again
 * whenever the selector says so; between tries it <em>waits</em>, which is when a close or its time limit may take it.
 *
 * <p>The lock is the channel's {@link Readiness}.
 */
abstract class Transfer {

    private final RAsynchronousSocketChannel channel;
    private final Object lock;
    private final int op; // of the selection key

    // Guarded by lock.
    private boolean busy;
    private boolean waiting;
    private boolean killed;
    private boolean shut;
    private boolean late; // timed out while it tried
    private long serial; // of the operation that its timer is for

    // Of the operation on its way: whoever has it, by busy and waiting, reads and writes these.
    private ByteBuffer one; // or null
    private ByteBuffer[] many;
    private CompletionHandler<Object, Object> handler; // or null
    private Object attachment;
    private PendingFuture<Object> future; // or null
    private Future<?> timer; // or null

    Transfer(RAsynchronousSocketChannel channel, Object lock, int op) {
        this.channel = channel;
        this.lock = lock;
        this.op = op;
    }

    /** Moves what can be moved without waiting; as the channel's call. */
    abstract long attempt(ByteBuffer one) throws IOException;

    /** The same, with several. */
    abstract long attempt(ByteBuffer[] many) throws IOException;

    /** How an operation fails once this direction is shut; null if it finds the end of the stream. */
    abstract IOException afterShut();

    /** What is thrown while another operation is on its way. */
    abstract IllegalStateException pending();

    /** The message for operations after a time limit or a cancellation. */
    abstract String refusal();

    // ---- starting ----

    /**
     * Starts an operation of the application's.
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
        channel.ensureConnected();
        return switch (admit(many != null || one.hasRemaining())) {
            case SHUT -> tell(many, -1, afterShut(), attachment, handler);
            case NOTHING_TO_DO -> tell(many, 0, null, attachment, handler);
            case ADMITTED -> start(one, many, timeout, unit, attachment, handler);
        };
    }

    /** Tells of an operation that is complete at once. */
    @SuppressWarnings("unchecked") // the handler takes what its operation has
    private <A> Future<?> tell(
            ByteBuffer[] many, long n, Throwable failure, A attachment, CompletionHandler<?, ? super A> handler) {
        Object value = failure == null ? value(many, n) : null;
        return Handlers.tellAtOnce(
                channel.group(), (CompletionHandler<Object, ? super A>) handler, attachment, value, failure);
    }

    private enum Admission {
        ADMITTED,
        SHUT,
        NOTHING_TO_DO
    }

    /** An operation gets its turn now, or never. */
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

    /** Once admitted. */
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
            } catch (RuntimeException | Error e) { // whoever hears that need not expect that the handler is called
                release(false);
                throw e;
            }
            if (failure == null) {
                return result;
            }
        }
        return finishAtOnce(n, Handlers.translate(failure));
    }

    /** With a time limit perhaps; as {@link Readiness#await}. */
    private Throwable suspend(PendingFuture<Object> result, long timeout, TimeUnit unit) {
        synchronized (lock) {
            if (timeout > 0) { // first, as it may fail
                long mine = ++serial;
                timer = channel.group().schedule(() -> expire(mine), timeout, unit);
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

    /** Of one buffer an Integer, of many a Long. */
    private static Object value(ByteBuffer[] many, long n) {
        if (many == null) {
            return (int) n;
        }
        return n;
    }

    /** With lock; as {@link Readiness#await}. */
    private Throwable suspend() {
        Throwable failure = channel.readiness().await(op);
        if (failure == null) {
            waiting = true;
        }
        return failure;
    }

    // ---- going on ----

    /** Whether there is an operation that waited and is the caller's now. */
    boolean take() {
        synchronized (lock) {
            if (!waiting) {
                channel.readiness().giveUp(op);
                return false;
            }
            waiting = false;
            return true;
        }
    }

    /** After {@link #take}. */
    void proceed(boolean direct) {
        long n = 0;
        Throwable failure = null;
        try {
            n = attempt();
        } catch (Throwable e) {
            failure = e;
        }
        if (failure == null && isUnfinished(n)) {
            synchronized (lock) {
                failure = late ? new InterruptedByTimeoutException() : suspend();
                if (failure == null) {
                    return;
                }
            }
        }
        finish(failure == null ? value(many, n) : null, Handlers.translate(failure), direct);
    }

    /** Ends an operation that is the caller's: it was taken, or its time limit took it. */
    private void finish(Object value, Throwable failure, boolean direct) {
        CompletionHandler<Object, Object> told = handler;
        Object with = attachment;
        PendingFuture<Object> result = future;
        Future<?> limit = timer;
        release(failure instanceof InterruptedByTimeoutException);
        if (limit != null) {
            limit.cancel(false);
        }
        Handlers.tell(channel.group(), result, told, with, value, failure, direct);
    }

    /** The next may start. */
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
                late = true; // it is trying, perhaps in vain
                return;
            }
            waiting = false;
        }
        finish(null, new InterruptedByTimeoutException(), false);
    }

    // ---- ends ----

    /** The channel is closed. */
    void fail(Throwable failure) {
        finish(null, failure, false);
    }

    /** Nobody knows how far an operation got: no more of them. */
    void kill() {
        synchronized (lock) {
            killed = true;
        }
    }

    /** @return false if it was shut before */
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
