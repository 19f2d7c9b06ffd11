/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.nio.channels.CompletionHandler;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/** A completion handler of a program: keeps what it is told, and by whom, and what it does then. */
final class Operation implements CompletionHandler<Object, Object> {

    /** What a handler does when it is called. */
    enum Then {
        NOTHING,
        AGAIN,
        THROW,
        THROW_ERROR,
        CLOSE,
        INTERRUPT,
        INTERRUPT_AND_AGAIN
    }

    /** Begins an operation with this handler. */
    @FunctionalInterface
    interface Start {
        void with(Operation handler) throws Exception;
    }

    /** What a result says, and to whom. */
    abstract static class Told {
        private boolean accounted;
        private String text;

        /** Once for each result. */
        abstract String text(Object value);

        /** Of a future that is done, or will be. */
        final String accountOnce(Future<?> future) throws ExecutionException, InterruptedException {
            Object value = future.get();
            synchronized (this) {
                if (!accounted) {
                    accounted = true;
                    text = text(value);
                }
                return text;
            }
        }
    }

    final CompletableFuture<String> outcome = new CompletableFuture<>();
    final End end;
    final String name;
    volatile boolean timed; // it ends by itself
    private final Thread caller = Thread.currentThread();
    private final AioWorld world;
    private final Told told;
    private final Start start;
    private final Then then;
    private final StringBuilder text = new StringBuilder();
    private int again;

    Operation(String name, AioWorld world, End end, Told told, Start start, Then then, int again) {
        this.name = name;
        this.world = world;
        this.end = end;
        this.told = told;
        this.start = start;
        boolean unheard = world.group == null && (then == Then.THROW || then == Then.THROW_ERROR);
        this.then = unheard ? Then.NOTHING : then; // threads of JDK 25's default group tell nobody
        this.again = again;
    }

    /** For operations of any kind. */
    @SuppressWarnings("unchecked") // it takes everything
    <V> CompletionHandler<V, Object> handler() {
        return (CompletionHandler<V, Object>) (CompletionHandler<?, ?>) this;
    }

    Operation timed(boolean is) {
        timed = is;
        return this;
    }

    /** @return its outcome, or that it waits */
    String run() throws Exception {
        start.with(this);
        return world.begun(this);
    }

    @Override
    public void completed(Object value, Object attachment) {
        String what;
        try {
            what = told.text(value);
        } catch (RuntimeException e) {
            what = e.toString();
        }
        go("completed " + what, attachment);
    }

    @Override
    public void failed(Throwable failure, Object attachment) {
        go("failed " + AioPrograms.name(failure), attachment);
    }

    private void go(String what, Object attachment) {
        Thread me = Thread.currentThread();
        text.append(AioWorld.ended(name, end, what)).append(" with ").append(attachment);
        if (me == caller) {
            text.append(" by the caller");
        }
        if (world.group != null && !me.getName().equals(AioWorld.THREAD)) {
            text.append(" by ").append(me.getName());
        }
        if (me.isInterrupted()) {
            text.append(" interrupted");
        }
        if (outcome.isDone()) {
            throw new IllegalStateException("called again: " + text);
        }
        switch (then) {
            case AGAIN -> again(me);
            case INTERRUPT_AND_AGAIN -> {
                me.interrupt();
                again(me);
            }
            case INTERRUPT -> {
                me.interrupt();
                outcome.complete(text.toString());
            }
            case THROW -> thrown(me, new IllegalStateException("of the handler"));
            case THROW_ERROR -> thrown(me, new AssertionError("of the handler"));
            case CLOSE -> {
                try {
                    if (!end.isDeaf()) {
                        end.channel.close();
                    }
                    world.changes();
                } catch (Exception e) {
                    text.append(e);
                }
                outcome.complete(text + " closed");
            }
            default -> outcome.complete(text.toString());
        }
    }

    private void again(Thread me) {
        if (again-- <= 0) {
            outcome.complete(text.toString());
            return;
        }
        text.append("; again: ");
        try {
            start.with(this);
        } catch (Throwable e) {
            if (!me.isInterrupted() && then == Then.INTERRUPT_AND_AGAIN) {
                text.append("not interrupted ");
            }
            outcome.complete(text + AioPrograms.name(e));
        }
    }

    private void thrown(Thread me, Throwable thrown) {
        me.setUncaughtExceptionHandler((thread, e) -> outcome.complete(text + " uncaught " + AioPrograms.name(e)));
        sneak(thrown);
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Throwable, T> T sneak(Throwable e) throws E {
        throw (E) e;
    }
}
