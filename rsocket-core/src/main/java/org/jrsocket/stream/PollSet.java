/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import org.jrsocket.verbs.CqSet;

/**
 * Streams that one thread, a selector's or an event loop's, polls for messages together: one look at all of them costs
 * one JNI crossing and takes no stream's lock. It finds messages only. Room to write that comes from acknowledgements
 * of this host's device, and what other threads see first, are the stream's own to tell.
 *
 * <p>A stream is in one set at a time. It leaves the set before its queues are freed, whoever frees them: that waits
 * until a look, of some microseconds, is over. One thread looks; any thread may add and remove.
 */
public final class PollSet implements AutoCloseable {

    private final RdmaTransport transport;
    private final Object lock =
            new Object(); // after a stream's lock; who waits for it makes no call to the application
    // Guarded by lock.
    private final CqSet queues;
    private final StreamCore[] streams;
    private final Object[] attachments;
    private boolean closed;

    // The looking thread's.
    private final Object[] found;
    private int foundCount;

    /** For up to {@code capacity} streams of the transport that {@code stream} belongs to. */
    public PollSet(RdmaStream stream, int capacity) {
        transport = stream.core().transport;
        queues = transport.bundles().verbs().createCqSet(capacity);
        streams = new StreamCore[capacity];
        attachments = new Object[capacity];
        found = new Object[capacity];
    }

    /**
     * Adds a stream.
     *
     * @return false if there is no room, or the stream is freed, in a set already or another transport's
     */
    public boolean add(RdmaStream stream, Object attachment) {
        StreamCore core = stream.core();
        core.enter();
        try {
            if (core.freed || core.pollSet != null || core.transport != transport) {
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
                core.pollSet = this;
                return true;
            }
        } finally {
            core.exit();
        }
    }

    /** Removes a stream, if it is in this set. */
    public void remove(RdmaStream stream) {
        StreamCore core = stream.core();
        core.enter();
        try {
            if (core.pollSet == this) {
                removeFromAny(core);
            }
        } finally {
            core.exit();
        }
    }

    /** Before its queues are freed; with the stream's lock. */
    static void removeFromAny(StreamCore core) {
        assert core.isHeld();
        PollSet set = core.pollSet;
        if (set != null) {
            core.pollSet = null;
            set.take(core);
        }
    }

    private void take(StreamCore core) {
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
     * Looks at all streams until a message has arrived for one, or {@code nanos}, some microseconds, are over: 0 looks
     * once.
     *
     * @return for how many there are messages, whose attachments {@link #found} tells
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

    /** What was attached to the i-th stream that the last {@link #look} found a message for. */
    public Object found(int i) {
        return found[i];
    }

    /** All streams leave; the set finds nothing any more. */
    @Override
    public void close() {
        synchronized (lock) {
            closed = true;
        }
        for (StreamCore core = any(); core != null; core = any()) {
            remove(core.stream());
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
