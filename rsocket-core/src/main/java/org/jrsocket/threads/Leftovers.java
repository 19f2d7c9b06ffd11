/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.threads;

import java.util.concurrent.atomic.AtomicReference;

/**
 * Streams that were left with something to send. Soon afterwards, if their writers have not come back, the service
 * thread sends what can be sent by then, and arranges to be told by the queues when the rest can be. Usually a writer
 * that keeps writing, or a reader that waits, gets there first. Nothing is allocated: the list is linked through the
 * streams.
 */
public final class Leftovers {

    /** The result of a look at a stream. */
    public enum Look {
        /** No further look is needed. */
        DONE,
        /** Another look is due soon. */
        SOON,
        /** The writer is active, and sends what there is with its next write. */
        LATER
    }

    /** A stream as it is seen from here. */
    public abstract static class Stream {

        private Stream next; // on the list

        /** Does what can be done; called now and then. */
        public abstract Look lookAfter();

        /** Ends a stream that could not be looked after and no longer will be. */
        public abstract void fail(Throwable cause);
    }

    /** How long the writer has to come back. */
    private static final long PERIOD_NANOS = 100_000;
    /** The same while all writers come back each time: a look takes a CPU from some thread, often from the writer. */
    private static final long LONGEST_PERIOD_NANOS = 800_000;

    private final Runnable wake;
    private final AtomicReference<Stream> added = new AtomicReference<>();
    // Used on the service thread.
    private Stream list;
    private boolean soon;
    private long period = PERIOD_NANOS;

    /** @param wake wakes the service thread */
    Leftovers(Runnable wake) {
        this.wake = wake;
    }

    /** Looks after {@code stream} until that is no longer needed. The caller ensures that it is added only once. */
    public void add(Stream stream) {
        Stream head;
        do {
            head = added.get();
            stream.next = head;
        } while (!added.compareAndSet(head, stream));
        if (head == null) {
            wake.run();
        }
    }

    /** Returns whether {@link #round} has to be called in a while. Called on the service thread. */
    boolean any() {
        return list != null || added.get() != null;
    }

    /** Returns the nanoseconds until the next {@link #round}. Called on the service thread. */
    long period() {
        return added.get() == null ? period : PERIOD_NANOS;
    }

    /** Looks at each stream once. Called on the service thread. */
    void round() {
        Stream fresh = added.getAndSet(null);
        Stream old = list;
        list = null;
        soon = fresh != null;
        keep(old);
        keep(fresh);
        period = soon ? PERIOD_NANOS : Math.min(2 * period, LONGEST_PERIOD_NANOS);
    }

    private void keep(Stream from) {
        Stream next = from;
        while (next != null) {
            Stream stream = next;
            next = stream.next;
            stream.next = null;
            Look found = look(stream);
            if (found != Look.DONE) {
                stream.next = list;
                list = stream;
                soon |= found == Look.SOON;
            }
        }
    }

    private static Look look(Stream stream) {
        try {
            return stream.lookAfter();
        } catch (RuntimeException | Error e) { // this serves every stream of the process and must survive any of them
            try {
                stream.fail(e);
                return Look.DONE;
            } catch (RuntimeException | Error again) {
                return Look.SOON; // perhaps for lack of memory: try again
            }
        }
    }
}
