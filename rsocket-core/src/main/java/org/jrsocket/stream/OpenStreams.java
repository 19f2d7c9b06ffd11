/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jrsocket.threads.ServiceLoop;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The streams of a transport that are not freed yet, and totals over all streams that ever existed. Idle streams are
 * made to give back the memory that they have grown to, and streams whose device has gone silent are ended.
 * Thread-safe.
 */
final class OpenStreams {

    private static final Logger LOG = LoggerFactory.getLogger(OpenStreams.class);

    /** The time between looks at the streams. One that has not moved for two to three of these gives memory back. */
    private static final long SWEEP_NANOS = DeviceSilence.LOOK_NANOS;

    /** The most streams that are looked at before others that wait for the service thread have their turn. */
    static final int AT_ONCE = 256;

    static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** What a wait counts for one look at most, however long it took: two looks are a millisecond apart. */
    private static final long MOST_AT_ONCE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final ServiceLoop service;
    private final Runnable sweep = this::sweep; // made now: without memory for it the sweeps would end
    private final Set<RdmaStream> streams = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean sweeping = new AtomicBoolean();
    private Iterator<RdmaStream> left; // of this round, null between rounds; used by sweeps only

    private final Object totalsLock = new Object(); // a stream that ends is counted once: in `streams` or in the totals
    private long endedRead; // bytes of streams that are no longer in `streams`; guarded by totalsLock
    private long endedWritten; // the same

    OpenStreams(ServiceLoop service) {
        this.service = service;
    }

    void add(RdmaStream stream) {
        streams.add(stream);
        sweepLater(false);
    }

    /** @param again whether this is a sweep, which holds no lock, and not a new stream, whose maker may */
    private void sweepLater(boolean again) {
        if (!sweeping.compareAndSet(false, true)) {
            return;
        }
        boolean scheduled = false;
        try {
            if (again) {
                service.scheduleAgain(sweep, left == null ? SWEEP_NANOS : REST_NANOS);
            } else {
                service.schedule(sweep, SWEEP_NANOS);
            }
            scheduled = true;
        } finally {
            if (!scheduled) { // the next stream tries again
                sweeping.set(false);
            }
        }
    }

    /** Removes a freed stream. */
    void remove(RdmaStream stream) {
        synchronized (totalsLock) {
            if (streams.remove(stream)) {
                endedRead += stream.bytesRead();
                endedWritten += stream.bytesWritten();
            }
        }
    }

    int count() {
        return streams.size();
    }

    /** Returns the streams of this moment. */
    List<RdmaStream> now() {
        return List.copyOf(streams);
    }

    /** @param memoryRefusals one of the totals */
    Totals totals(long memoryRefusals) {
        List<RdmaStream> left;
        long read;
        long written;
        synchronized (totalsLock) {
            left = now();
            read = endedRead;
            written = endedWritten;
        }
        long registered = 0;
        int open = 0;
        int ending = 0;
        for (RdmaStream stream : left) { // without that lock: each has one, which a device may hold up
            read += stream.bytesRead();
            written += stream.bytesWritten();
            registered += stream.registeredBytes();
            if (stream.isOpen()) {
                open++;
            } else {
                ending++;
            }
        }
        return new Totals(open, ending, read, written, registered, memoryRefusals);
    }

    /** Runs on the service thread, as long as there are streams. */
    private void sweep() {
        try {
            Iterator<RdmaStream> round = left == null ? streams.iterator() : left;
            for (int i = 0; i < AT_ONCE && round.hasNext(); i++) {
                sweep(round.next());
            }
            left = round.hasNext() ? round : null;
        } finally {
            if (streams.isEmpty()) {
                left = null; // which would keep a stream that is gone
            }
            sweeping.set(false);
            if (!streams.isEmpty()) {
                sweepLater(true);
            }
        }
    }

    /** Looks at one stream. Trouble with it must not keep the others from being looked at. */
    private static void sweep(RdmaStream stream) {
        try {
            stream.core().sweep.look();
        } catch (RuntimeException | Error e) {
            LOG.error("checking {} failed; it will be tried again", stream, e);
        }
    }

    /** Resets the streams that were not closed. */
    void abortOpen() {
        for (RdmaStream stream : streams) {
            if (stream.isOpen()) {
                stream.abort();
            }
        }
    }

    /** Resets all streams, and waits for at most {@code nanos} until they are freed. */
    void abortAll(long nanos) {
        for (RdmaStream stream : streams) {
            stream.abort();
        }
        awaitEnd(() -> !streams.isEmpty(), nanos);
        List<RdmaStream> left = now();
        if (!left.isEmpty()) {
            LOG.warn(
                    "connections not freed: {}, of which {} wait for received bytes to be given back",
                    left.size(),
                    left.stream()
                            .filter(stream -> stream.core().freeing.waitsForBorrowed())
                            .count());
        }
    }

    /**
     * Waits for the delivery of what was written before a close. It belongs to the peer even though the JVM exits: with
     * TCP the kernel would see to it, here this process does. Streams that are still open stay open, because other
     * shutdown hooks may be using them.
     */
    void awaitDelivery(long nanos) {
        // as of the first look: threads that still write must not keep the JVM alive
        Map<RdmaStream, Long> written = new HashMap<>();
        awaitEnd(
                () -> streams.stream()
                        .anyMatch(stream ->
                                stream.isDelivering(written.computeIfAbsent(stream, RdmaStream::bytesWritten))),
                nanos);
    }

    /**
     * Waits until {@code condition} no longer holds, {@code nanos} have passed, or the thread is interrupted. Time in
     * which this process stood still hardly counts: nobody could go on meanwhile.
     */
    static void awaitEnd(BooleanSupplier condition, long nanos) {
        long left = nanos;
        long last = System.nanoTime();
        while (condition.getAsBoolean() && left > 0) {
            try {
                TimeUnit.MILLISECONDS.sleep(1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
            long now = System.nanoTime();
            left -= Math.min(now - last, MOST_AT_ONCE_NANOS);
            last = now;
        }
    }
}
