/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import org.jrsocket.verbs.CqSet;

/**
 * Streams that one thread, a selector's or an event loop's, polls for messages together. One look at all of them costs
 * one JNI crossing and takes no stream's lock. It finds only messages. What other threads see first, and room to write
 * that comes from acknowledgements of this host's device, are reported by the stream itself.
 *
 * <p>A stream is in one set at a time. It leaves the set before its queues are freed, whichever thread frees them; that
 * waits until a look, of some microseconds, has ended. One thread looks; any thread may add and remove streams.
 */
public final class PollSet implements AutoCloseable {

    private final Services services;
    private final Object lock =
            new Object(); // taken after a stream's lock; a thread that waits for it makes no call to the application
    // Guarded by lock.
    private final CqSet queues;
    private final StreamCore[] streams;
    private final Object[] attachments;
    private boolean closed;

    private final StreamCore.Polled polled = this::take;

    // Used by the looking thread.
    private final Object[] found;
    private int foundCount;

    /** Creates a set for up to {@code capacity} streams of the transport that {@code stream} belongs to. */
    public PollSet(RdmaStream stream, int capacity) {
        services = stream.core().services;
        queues = services.bundles.verbs().createCqSet(capacity);
        streams = new StreamCore[capacity];
        attachments = new Object[capacity];
        found = new Object[capacity];
    }

    /**
     * Adds a stream.
     *
     * @return false if there is no room, or the stream is freed, already in a set, or from another transport
     */
    public boolean add(RdmaStream stream, Object attachment) {
        StreamCore core = stream.core();
        core.enter();
        try {
            if (core.phase.isFreed() || core.pollSet != null || core.services != services) {
                return false;
            }
            synchronized (lock) {
                if (closed || queues.isFull()) {
                    return false;
                }
                int index = queues.size();
                queues.add(core.queues.receiveCq());
                streams[index] = core;
                attachments[index] = attachment;
                core.pollSet = polled;
                return true;
            }
        } finally {
            core.exit();
        }
    }

    /** Removes a stream, if it is in this set. */
    public void remove(RdmaStream stream) {
        remove(stream.core());
    }

    private void remove(StreamCore core) {
        core.enter();
        try {
            if (core.pollSet == polled) {
                take(core);
            }
        } finally {
            core.exit();
        }
    }

    /** Called with the stream's lock held. */
    private void take(StreamCore core) {
        assert core.isHeld();
        core.pollSet = null;
        synchronized (lock) {
            int last = queues.size() - 1;
            for (int i = 0; i <= last; i++) {
                if (streams[i] == core) {
                    queues.remove(i);
                    streams[i] = streams[last];
                    attachments[i] = attachments[last];
                    streams[last] = null;
                    attachments[last] = null;
                    return;
                }
            }
        }
    }

    /**
     * Looks at all streams until a message has arrived for one of them, or {@code nanos}, some microseconds, are over:
     * 0 looks once.
     *
     * @return the number of streams with messages; {@link #found} returns their attachments
     */
    public int look(long nanos) {
        synchronized (lock) {
            int n = queues.size() == 0 ? 0 : queues.spin(nanos);
            for (int i = 0; i < n; i++) {
                found[i] = attachments[queues.found(i)];
            }
            for (int i = n; i < foundCount; i++) {
                found[i] = null;
            }
            foundCount = n;
            return n;
        }
    }

    /** Returns what was attached to the i-th stream for which the last {@link #look} found a message. */
    public Object found(int i) {
        return found[i];
    }

    /** Removes all streams; the set finds nothing from now on. */
    @Override
    public void close() {
        synchronized (lock) {
            closed = true;
        }
        for (StreamCore core = any(); core != null; core = any()) {
            remove(core);
        }
        synchronized (lock) {
            queues.free();
        }
    }

    private StreamCore any() {
        synchronized (lock) {
            return queues.size() == 0 ? null : streams[0];
        }
    }
}
