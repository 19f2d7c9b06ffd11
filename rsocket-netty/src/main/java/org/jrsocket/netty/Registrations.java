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
 * The chunks that a connection has registered to send from, the least recently used first. A key of one connection
 * opens nothing on another, so each registers for itself: when it first sends from a chunk. They end with their chunks,
 * and with the connection at the latest. Any thread, for buffers are released by any.
 */
final class Registrations {

    private static final Logger LOG = LoggerFactory.getLogger(Registrations.class);

    /** Bytes that a connection keeps registered. */
    private static final long MOST = 64L * 1024 * 1024;
    /** How long nobody is asked again after a refusal. */
    private static final long REFUSED_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final RdmaStream stream;
    private final Executor eventLoop;

    // Guarded by this.
    private final Map<Chunk, LentMemory> memories = new LinkedHashMap<>(16, 0.75f, true);
    private long bytes;
    private Chunk lastChunk;
    private LentMemory lastMemory;
    private boolean refused;
    private long refusedAt;

    Registrations(RdmaStream stream, Executor eventLoop) {
        this.stream = stream;
        this.eventLoop = eventLoop;
    }

    /** The registration of {@code chunk}, of which a piece is in use; null if there can be none now. */
    synchronized LentMemory of(Chunk chunk) {
        if (chunk == lastChunk) {
            return lastMemory;
        }
        LentMemory memory = memories.get(chunk);
        if (memory == null) {
            memory = register(chunk);
        }
        if (memory != null) {
            lastChunk = chunk;
            lastMemory = memory;
        }
        return memory;
    }

    private LentMemory register(Chunk chunk) {
        if (refused && System.nanoTime() - refusedAt < REFUSED_NANOS) {
            return null;
        }
        if (!makeRoom(chunk.size())) {
            LOG.debug("{} bytes of {} are copied: {} are registered and in use", chunk.size(), stream, bytes);
            return null;
        }
        try {
            LentMemory memory = stream.register(chunk.memory());
            memories.put(chunk, memory);
            chunk.add(this);
            bytes += chunk.size();
            refused = false;
            return memory;
        } catch (IOException e) {
            LOG.debug("{} bytes of {} are copied: {}", chunk.size(), stream, e.getMessage());
            refused = true;
            refusedAt = System.nanoTime();
            return null;
        }
    }

    /** Ends registrations as far as necessary. One larger than all may be alone. */
    private boolean makeRoom(int wanted) {
        Iterator<Map.Entry<Chunk, LentMemory>> each = memories.entrySet().iterator();
        while (each.hasNext() && bytes + wanted > MOST) {
            Map.Entry<Chunk, LentMemory> entry = each.next();
            if (entry.getValue().isFree()) {
                each.remove();
                end(entry.getKey(), entry.getValue());
            }
        }
        return bytes == 0 || bytes + wanted <= MOST;
    }

    private void end(Chunk chunk, LentMemory memory) {
        memory.close();
        chunk.remove(this);
        bytes -= chunk.size();
        lastChunk = null; // it may be this one
        lastMemory = null;
    }

    /** Ends the registration of a retired chunk; in the event loop, so that each connection pays for its own. */
    void retired(Chunk chunk) {
        try {
            eventLoop.execute(() -> forget(chunk));
        } catch (RejectedExecutionException e) {
            forget(chunk); // the loop has ended
        }
    }

    private synchronized void forget(Chunk chunk) {
        LentMemory memory = memories.get(chunk);
        if (memory != null && memory.isFree()) {
            memories.remove(chunk);
            end(chunk, memory);
        }
    }

    /** The stream is closed: they end when it is freed. */
    synchronized void close() {
        memories.keySet().forEach(each -> each.remove(this));
        memories.clear();
        lastChunk = null;
        lastMemory = null;
    }
}
