/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.verbs.Mr;

/**
 * Memory of the application that is registered for one stream, which sends from it without a copy. What was written
 * must not be changed until the stream has {@code acknowledged} it, or sends no more ({@code whenSendsAreOver}). The
 * buffer stays reachable until its registration has ended.
 *
 * <p>Registered memory is pinned and counts towards the limit of the process. Thread-safe.
 */
public final class LentMemory implements AutoCloseable {

    private final StreamCore core;
    private final ByteBuffer buffer; // keeps the memory alive
    private final long address;
    private final Mr mr;

    // Guarded by the core's lock.
    private long usedUpTo; // offset in the stream
    private boolean closed;
    private boolean ending;
    private boolean deregistered;

    private LentMemory(StreamCore core, ByteBuffer buffer, long address, Mr mr) {
        this.core = core;
        this.buffer = buffer;
        this.address = address;
        this.mr = mr;
    }

    /**
     * Registers a buffer. Called without the core's lock: this may take the device long.
     *
     * @throws IOException if the device, the system or the limit of the process refuses
     */
    static LentMemory register(StreamCore core, ByteBuffer buffer) throws IOException {
        if (!buffer.isDirect() || buffer.capacity() == 0) {
            throw new IllegalArgumentException("only direct buffers that are not empty can be registered");
        }
        long address = NativeMemory.addressOf(buffer);
        Mr mr = core.endpoint.slabs().lend(buffer);
        return new LentMemory(core, buffer, address, mr);
    }

    /** Sends {@code length} bytes from {@code offset}; returns the stream offset behind them. Needs the core's lock. */
    long write(int offset, int length) {
        Objects.checkFromIndexSize(offset, length, buffer.capacity());
        if (closed) {
            throw new IllegalStateException("this memory is closed");
        }
        core.out.write(address + offset, length, mr.getLkey(), true);
        usedUpTo = core.out.written();
        return usedUpTo;
    }

    /**
     * Returns where an absolute address lies in this memory, for {@code RdmaStream.writeLent}.
     *
     * @throws IndexOutOfBoundsException if it lies outside
     */
    public int offsetOf(long absolute) {
        return (int) Objects.checkIndex(absolute - address, buffer.capacity());
    }

    boolean isOf(StreamCore stream) {
        return core == stream;
    }

    /** Returns whether nothing of this memory is on its way any more, so that its owner may change it. */
    public boolean isFree() {
        core.enter();
        try {
            return core.phase.areSendsOver() || core.out.acknowledged() >= usedUpTo;
        } finally {
            core.exit();
        }
    }

    /**
     * Ends the registration: now, or together with the stream if something is still on its way. Repeated calls have no
     * effect.
     */
    @Override
    public void close() {
        core.enter();
        try {
            closed = true;
        } finally {
            core.exit();
        }
        end();
    }

    /**
     * Ends the registration if nothing of this memory is on its way.
     *
     * @return whether it has ended, now or earlier, so that the memory may be freed
     */
    public boolean end() {
        core.enter();
        try {
            if (ending || core.phase.isFreed() || core.out.acknowledged() < usedUpTo) {
                return deregistered || core.phase.areSendsOver();
            }
            closed = true;
            ending = true;
        } finally {
            core.exit();
        }
        core.endpoint.slabs().endLending(mr); // without the lock, because the device may take long
        core.enter();
        try {
            deregistered = true;
        } finally {
            core.exit();
        }
        return true;
    }
}
