/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends what a writer left behind when it wrote into a busy send queue and went away: looks after such streams every
 * {@value #PERIOD_NANOS} ns, sleeps while there are none. A writer that keeps writing, or a reader that waits, mostly
 * gets there first. A stream that cannot send because its peer does not read is handed to the service thread, which
 * waits for the peer.
 */
final class Flusher implements Runnable {

    private static final Logger LOG = LoggerFactory.getLogger(Flusher.class);
    private static final long PERIOD_NANOS = 100_000;
    /** Rounds without an end after which the stream is waiting for its peer rather than for its send queue. */
    private static final int PATIENCE = 16;

    /**
     * A stream to look after, or a list of them: each links to the next, so that handing one over allocates nothing.
     */
    private final AtomicReference<RdmaStream> added = new AtomicReference<>();

    private final Thread thread;
    private volatile boolean idle;
    private volatile boolean stopped;

    Flusher(String name) {
        thread = Threads.daemon(name, this);
        thread.start();
    }

    /**
     * Looks after {@code stream} until it has nothing deferred; the caller makes sure that it is added once only. Any
     * thread.
     */
    void add(RdmaStream stream) {
        RdmaStream head;
        do {
            head = added.get();
            stream.nextDeferred = head;
        } while (!added.compareAndSet(head, stream));
        if (idle) {
            LockSupport.unpark(thread);
        }
    }

    void stop() {
        stopped = true;
        LockSupport.unpark(thread);
    }

    @Override
    public void run() {
        RdmaStream list = null;
        while (!stopped) {
            if (list == null) {
                idle = true;
                while (added.get() == null && !stopped) {
                    LockSupport.park(this);
                }
                idle = false;
            }
            LockSupport.parkNanos(this, PERIOD_NANOS);
            RdmaStream fresh = added.getAndSet(null);
            while (fresh != null) {
                RdmaStream next = fresh.nextDeferred;
                fresh.deferredRounds = 0;
                fresh.nextDeferred = list;
                list = fresh;
                fresh = next;
            }
            list = round(list);
        }
    }

    /** One look at every stream; returns those that still have something deferred. */
    private static RdmaStream round(RdmaStream list) {
        RdmaStream kept = null;
        while (list != null) {
            RdmaStream stream = list;
            list = stream.nextDeferred;
            stream.nextDeferred = null;
            try {
                if (!stream.flushDeferred()) {
                    continue;
                }
            } catch (RuntimeException | Error e) { // it serves every stream of the process and must survive any of them
                if (fail(stream, e)) {
                    continue;
                }
            }
            if (++stream.deferredRounds > PATIENCE) {
                stream.watchDeferred();
            } else {
                stream.nextDeferred = kept;
                kept = stream;
            }
        }
        return kept;
    }

    /** False if not even that went well, for lack of memory perhaps: the stream is tried again. */
    private static boolean fail(RdmaStream stream, Throwable cause) {
        try {
            stream.failDeferred(cause);
            return true;
        } catch (RuntimeException | Error e) {
            LOG.error("failing {} failed", stream, e);
            return false;
        }
    }
}
