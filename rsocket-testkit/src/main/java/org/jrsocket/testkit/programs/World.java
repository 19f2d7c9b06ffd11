/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.testkit.programs;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The sockets of one run of a program, and the calls that wait in threads of their own. Only a program's own thread
 * uses it; its calls may run in others.
 */
public abstract class World implements AutoCloseable {

    private static final long AT_MOST_SECONDS = 30;

    private record Waiting(String name, Thread thread, CompletableFuture<String> outcome) {}

    private final List<Waiting> waiting = new ArrayList<>();
    private long patienceMillis;
    private int begun;

    final void patience(long millis) {
        patienceMillis = millis;
    }

    /** Returns how long, in milliseconds, a call is given to end before it counts as one that waits. */
    protected final long patience() {
        return patienceMillis;
    }

    /**
     * Makes a call in a thread of its own, because it may wait.
     *
     * @return its name, under which {@link #settled()} reports its outcome, after this call or a later one
     */
    protected final String mayWait(Callable<String> call) throws InterruptedException {
        return mayWait(Thread::new, call);
    }

    /** Does the same as {@link #mayWait(Callable)}, in a thread of a given kind. */
    protected final String mayWait(ThreadFactory threads, Callable<String> call) throws InterruptedException {
        CompletableFuture<String> outcome = new CompletableFuture<>();
        Thread thread = threads.newThread(() -> outcome.complete(outcomeOf(call)));
        thread.setName("call " + ++begun);
        thread.setDaemon(true);
        thread.start();
        get(outcome, patienceMillis);
        waiting.add(new Waiting("call " + begun, thread, outcome));
        return "call " + begun;
    }

    /** Interrupts the call that has waited longest. */
    protected final String interruptOldest() {
        if (waiting.isEmpty()) {
            return "none waits";
        }
        waiting.get(0).thread().interrupt();
        return waiting.get(0).name() + " interrupted";
    }

    /** Returns whether calls still wait in threads of their own. */
    protected final boolean someWait() {
        return !waiting.isEmpty();
    }

    /** Returns what the last call was about, for a reader of a failure. Called once after each call. */
    protected String note() {
        return "";
    }

    /** Closes all sockets. */
    @Override
    public abstract void close() throws IOException;

    /** Returns what is compared in addition to the calls' outcomes, once everything is closed. */
    protected String remains() throws InterruptedException {
        return "";
    }

    /** Returns the outcomes of calls that no longer wait. */
    final String settled() throws InterruptedException {
        return collect(patienceMillis);
    }

    /** Closes everything, and waits for the calls that still wait: each of them has to end. */
    final String ended() throws IOException, InterruptedException {
        close();
        String text = collect(TimeUnit.SECONDS.toMillis(AT_MOST_SECONDS));
        for (Waiting still : waiting) {
            StringBuilder trace = new StringBuilder();
            for (StackTraceElement element : still.thread().getStackTrace()) {
                trace.append("\n      ").append(element);
            }
            text += " " + still.name() + " never ends" + trace;
        }
        return text + remains();
    }

    private String collect(long millis) throws InterruptedException {
        StringBuilder text = new StringBuilder();
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        for (Iterator<Waiting> each = waiting.iterator(); each.hasNext(); ) {
            Waiting one = each.next();
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            String outcome = get(one.outcome(), Math.max(0, left));
            if (outcome != null) {
                text.append(" [")
                        .append(one.name())
                        .append(": ")
                        .append(outcome)
                        .append(']');
                each.remove();
            }
        }
        return text.toString();
    }

    private static String get(CompletableFuture<String> outcome, long millis) throws InterruptedException {
        try {
            return outcome.get(millis, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return null;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns what a call returns or throws, as text. */
    static String outcomeOf(Callable<String> call) {
        try {
            return String.valueOf(call.call());
        } catch (Throwable e) {
            return nameOf(e);
        }
    }

    /** Returns what an exception is compared by: its type and its message. */
    protected static String nameOf(Throwable e) {
        return e.getClass().getName() + (e.getMessage() == null ? "" : ": " + e.getMessage());
    }
}
