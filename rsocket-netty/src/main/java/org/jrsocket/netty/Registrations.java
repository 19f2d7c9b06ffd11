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
final class Registrations {

    private static final Logger LOG = LoggerFactory.getLogger(Registrations.class);

    /** The most bytes that a connection keeps registered. */
    private static final long MOST = 64L * 1024 * 1024;
    /** How long no registration is tried after a refusal. */
    private static final long REFUSED_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final RdmaStream stream;
    private final Executor eventLoop;

    // Guarded by this.
    private final Map<Chunk, LentMemory> memories = new LinkedHashMap<>(16, 0.75f, true);
    private long bytes;
    private long refusedAt = System.nanoTime() - REFUSED_NANOS;

    private volatile boolean any;

    Registrations(RdmaStream stream, Executor eventLoop) {
        this.stream = stream;
        this.eventLoop = eventLoop;
        stream.whenQuiet(this::quiet);
    }

    /** Returns the registration of {@code chunk}, of which a piece is in use; null if there can be none now. */
    synchronized LentMemory of(Chunk chunk) {
        LentMemory memory = memories.get(chunk);
        return memory != null ? memory : register(chunk);
    }

    private LentMemory register(Chunk chunk) {
        if (System.nanoTime() - refusedAt < REFUSED_NANOS) {
            return null;
        }
        endFree(MOST - chunk.size());
        if (bytes > 0 && bytes + chunk.size() > MOST) { // a chunk larger than the limit may be alone
            LOG.debug(
                    "not registering a chunk of {} bytes on {}, copying instead: {} bytes are registered and in use",
                    chunk.size(),
                    stream,
                    bytes);
            return null;
        }
        LentMemory memory = tryRegister(chunk);
        if (memory == null) {
            refusedAt = System.nanoTime(); // making room for each message would take longer than copying it
            long before = bytes;
            endFree(bytes - chunk.size());
            memory = bytes < before ? tryRegister(chunk) : null;
        }
        return memory;
    }

    private LentMemory tryRegister(Chunk chunk) {
        try {
            LentMemory memory = stream.register(chunk.memory());
            memories.put(chunk, memory);
            chunk.add(this);
            bytes += chunk.size();
            any = true;
            return memory;
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
     * bytes are registered.
     */
    private synchronized void endFree(long left) {
        Iterator<Map.Entry<Chunk, LentMemory>> each = memories.entrySet().iterator();
        while (each.hasNext() && bytes > left) {
            Map.Entry<Chunk, LentMemory> entry = each.next();
            if (entry.getValue().end()) {
                each.remove();
                ended(entry.getKey());
            }
        }
    }

    private void ended(Chunk chunk) {
        chunk.remove(this);
        bytes -= chunk.size();
        any = bytes > 0;
    }

    /** Ends registrations after some quiet seconds: others may need the room. On the service thread: never waits. */
    private void quiet() {
        if (any) {
            inLoop(() -> endFree(0));
        }
    }

    /** Ends the registration of a retired chunk. */
    void retired(Chunk chunk) {
        inLoop(() -> forget(chunk));
    }

    /** Runs a task in the event loop: each connection pays for its own. */
    private void inLoop(Runnable task) {
        try {
            eventLoop.execute(task);
        } catch (RejectedExecutionException e) {
            task.run(); // the loop has ended
        }
    }

    private synchronized void forget(Chunk chunk) {
        LentMemory memory = memories.get(chunk);
        if (memory != null && memory.end()) {
            memories.remove(chunk);
            ended(chunk);
        }
    }

    /** Forgets all registrations, which have ended because the stream no longer sends. */
    synchronized void over() {
        memories.keySet().forEach(this::ended);
        memories.clear();
    }
}
