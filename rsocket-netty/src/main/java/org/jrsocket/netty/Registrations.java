/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jrsocket.stream.LentMemory;
import org.jrsocket.stream.RdmaStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The chunks that a connection has registered to send from, the least recently used first. A key of one connection is
 * not valid on another, so each connection registers for itself, when it first sends from a chunk. Registrations end
 * with their chunks, when nothing has moved for some seconds, when another one needs the room, and with the connection
 * at the latest. Safe for use by any thread, because any may release buffers. The monitor is taken before the stream's
 * lock and a chunk's.
 */
final class Registrations implements Chunk.Registrant {

    /** A chunk, and what a connection sends from it by. */
    static final class Registration {
        private final Chunk chunk;
        private final LentMemory memory;
        private long usedAt; // guarded by the registrations, as System.nanoTime

        Registration(Chunk chunk, LentMemory memory) {
            this.chunk = chunk;
            this.memory = memory;
        }

        Chunk chunk() {
            return chunk;
        }

        LentMemory memory() {
            return memory;
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger(Registrations.class);

    /** The most bytes that a connection keeps registered. */
    private static final long MOST = 64L * 1024 * 1024;
    /** How long no registration is tried after a refusal. */
    private static final long REFUSED_NANOS = TimeUnit.SECONDS.toNanos(1);
    /**
     * How long a registration that was used stays although another one needs the room. A connection that sends from
     * more chunks than it may register would otherwise end and make one for each message, which takes longer than to
     * copy it.
     */
    private static final long KEPT_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final RdmaStream stream;
    private final Executor eventLoop;

    // Guarded by this.
    private final Map<Chunk, Registration> all = new LinkedHashMap<>(16, 0.75f, true);
    private long bytes;
    private long refusedAt = System.nanoTime() - REFUSED_NANOS;

    private volatile boolean any;
    private final BiConsumer<Chunk, Registration> ends = this::ended; // made now: see over

    Registrations(RdmaStream stream, Executor eventLoop) {
        this.stream = stream;
        this.eventLoop = eventLoop;
        stream.whenQuiet(this::quiet);
    }

    /** Returns the registration of {@code chunk}, of which a piece is in use; null if there can be none now. */
    synchronized Registration of(Chunk chunk) {
        long now = System.nanoTime();
        Registration registration = all.get(chunk);
        if (registration == null) {
            registration = register(chunk, now);
        }
        if (registration != null) {
            registration.usedAt = now;
        }
        return registration;
    }

    private Registration register(Chunk chunk, long now) {
        if (now - refusedAt < REFUSED_NANOS) {
            return null;
        }
        // A message that has a chunk to itself is large, and takes longer to copy than to register.
        endFree(MOST - chunk.size(), chunk.isWhole() ? now : now - KEPT_NANOS);
        if (bytes > 0 && bytes + chunk.size() > MOST) { // a chunk larger than the limit may be alone
            LOG.debug(
                    "not registering a chunk of {} bytes on {}, copying instead: {} bytes are registered and in use",
                    chunk.size(),
                    stream,
                    bytes);
            return null;
        }
        Registration registration = tryRegister(chunk);
        if (registration == null) {
            refusedAt = now; // making room for each message would take longer than copying it
            long before = bytes;
            endFree(bytes - chunk.size(), now);
            registration = bytes < before ? tryRegister(chunk) : null;
        }
        return registration;
    }

    private Registration tryRegister(Chunk chunk) {
        try {
            Registration registration = new Registration(chunk, stream.register(chunk.memory()));
            boolean kept = false;
            try {
                chunk.add(this);
                all.put(chunk, registration);
                kept = true;
            } finally {
                if (!kept) { // no memory for that
                    registration.memory().end();
                    all.remove(chunk);
                    chunk.remove(this);
                }
            }
            bytes += chunk.size();
            any = true;
            return registration;
        } catch (IOException e) {
            LOG.debug(
                    "cannot register a chunk of {} bytes on {}, copying instead: {}",
                    chunk.size(),
                    stream,
                    e.getMessage());
            return null;
        }
    }

    /**
     * Ends registrations from which nothing is in flight, the least recently used first, until at most {@code left}
     * bytes are registered, but none that was used after {@code until}.
     */
    private synchronized void endFree(long left, long until) {
        Iterator<Registration> each = all.values().iterator();
        while (each.hasNext() && bytes > left) {
            Registration registration = each.next();
            if (registration.usedAt - until > 0) {
                return; // and so were the others
            }
            if (registration.memory().end()) {
                each.remove();
                ended(registration.chunk(), registration);
            }
        }
    }

    private void ended(Chunk chunk, Registration registration) {
        chunk.remove(this);
        bytes -= chunk.size();
        any = bytes > 0;
    }

    /** Ends registrations after some quiet seconds: others may need the room. On the service thread: never waits. */
    private void quiet() {
        if (any) {
            inLoop(() -> endFree(0, System.nanoTime())); // or it has ended, and its channels are being closed
        }
    }

    /** Ends the registration; without memory for that, it ends with the others. */
    @Override
    public void retired(Chunk chunk) {
        try {
            if (!inLoop(() -> forget(chunk))) {
                forget(chunk);
            }
        } catch (OutOfMemoryError e) {
            // nobody is to hear of it who releases a buffer
        }
    }

    /** Runs a task in the event loop, since each connection pays for its own; returns false if that has ended. */
    private boolean inLoop(Runnable task) {
        try {
            eventLoop.execute(task);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    private synchronized void forget(Chunk chunk) {
        Registration registration = all.get(chunk);
        if (registration != null && registration.memory().end()) {
            all.remove(chunk);
            ended(chunk, registration);
        }
    }

    /** Forgets all registrations, which have ended because the stream no longer sends. Takes no memory. */
    synchronized void over() {
        all.forEach(ends);
        all.clear();
    }
}
