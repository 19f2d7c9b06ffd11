/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.io.IOException;
import java.nio.channels.AsynchronousChannel;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The outcome of an operation without a handler. Safe for use by many threads. */
final class PendingFuture<V> implements Future<V> {

    private final CompletableFuture<V> outcome = new CompletableFuture<>();
    private final AsynchronousChannel channel;
    private final Runnable onCancel;

    /** @param onCancel has the channel refuse further operations, because no one knows how far this one got */
    PendingFuture(AsynchronousChannel channel, Runnable onCancel) {
        this.channel = channel;
        this.onCancel = onCancel;
    }

    /** Returns a future that is complete. */
    static <V> PendingFuture<V> of(V value, Throwable failure) {
        PendingFuture<V> complete = new PendingFuture<>(null, null);
        complete.set(value, failure);
        return complete;
    }

    /** @return false if it has been cancelled */
    synchronized boolean set(V value, Throwable failure) {
        return failure == null ? outcome.complete(value) : outcome.completeExceptionally(asCause(failure));
    }

    /** Returns the cause of what {@code get} throws: an IOException, as in the JDK, whatever a handler is told. */
    private static Throwable asCause(Throwable failure) {
        boolean passes = failure instanceof IOException || failure instanceof SecurityException;
        return passes ? failure : new IOException(failure);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        synchronized (this) {
            if (outcome.isDone()) {
                return false;
            }
            onCancel.run();
            outcome.cancel(false);
        }
        if (mayInterruptIfRunning) {
            try {
                channel.close();
            } catch (IOException e) {
                // it is closed all the same, and the caller did not ask how
            }
        }
        return true;
    }

    @Override
    public boolean isCancelled() {
        return outcome.isCancelled();
    }

    @Override
    public boolean isDone() {
        return outcome.isDone();
    }

    @Override
    public V get() throws InterruptedException, ExecutionException {
        try {
            return outcome.get();
        } catch (CancellationException e) {
            throw cancelled(e);
        }
    }

    /** Waits for the outcome. As in the JDK, the unit may be null if an operation that had to wait is complete. */
    @Override
    public V get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        if (channel != null && outcome.isDone()) {
            return get();
        }
        try {
            return outcome.get(timeout, unit);
        } catch (CancellationException e) {
            throw cancelled(e);
        }
    }

    /** Returns an exception without a message, which later JDKs give it. */
    private static CancellationException cancelled(CancellationException e) {
        CancellationException plain = new CancellationException();
        plain.initCause(e);
        return plain;
    }
}
