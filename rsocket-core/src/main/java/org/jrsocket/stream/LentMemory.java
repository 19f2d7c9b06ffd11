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
 * Memory of the application, registered for one stream, which sends from it without a copy. What was
 * {@linkplain RdmaStream#writeLent written} must not be changed until {@link RdmaStream#acknowledged} has passed it, or
 * the stream {@linkplain RdmaStream#whenSendsAreOver sends no more}. The buffer stays reachable until its
 * registration has ended.
 *
 * <p>Registered memory is pinned and counts towards the bound of the process. Any thread.
 */
public final class LentMemory implements AutoCloseable {

    private final StreamCore core;
    private final ByteBuffer buffer; // keeps the memory alive
    private final long address;
    private final Mr mr;

    // With the core's lock.
    private long usedUpTo; // offset of the stream
    private boolean closed;
    private boolean deregistered;

    private LentMemory(StreamCore core, ByteBuffer buffer, long address, Mr mr) {
        this.core = core;
        this.buffer = buffer;
        this.address = address;
        this.mr = mr;
    }

    /**
     * With the core's lock.
     *
     * @throws IOException if the device, the system or the bound of the process refuses
     */
    static LentMemory register(StreamCore core, ByteBuffer buffer) throws IOException {
        if (!buffer.isDirect() || buffer.capacity() == 0) {
            throw new IllegalArgumentException("only direct buffers can be registered");
        }
        long address = NativeMemory.addressOf(buffer);
        Mr mr = core.endpoint.slabs.lend(buffer);
        return new LentMemory(core, buffer, address, mr);
    }

    /** Sends {@code length} bytes from {@code offset} on; with the core's lock. Returns the stream offset behind. */
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
     * Where in this memory an address lies, for {@link RdmaStream#writeLent}.
     *
     * @throws IndexOutOfBoundsException if it does not
     */
    public int offsetOf(long absolute) {
        return (int) Objects.checkIndex(absolute - address, buffer.capacity());
    }

    boolean isOf(StreamCore stream) {
        return core == stream;
    }

    /** Whether nothing of it is on its way any more: its owner may change it. */
    public boolean isFree() {
        core.enter();
        try {
            return core.sendsOver || core.out.acknowledged() >= usedUpTo;
        } finally {
            core.exit();
        }
    }

    /**
     * Ends the registration: now, or with the stream if something is still on its way. Harmless when repeated.
     */
    @Override
    public void close() {
        core.enter();
        try {
            closed = true;
            end();
        } finally {
            core.exit();
        }
    }

    /**
     * Ends the registration if nothing of it is on its way.
     *
     * @return whether it has ended, by this or before: then the memory may be freed
     */
    public boolean end() {
        core.enter();
        try {
            if (!deregistered && !core.freed && core.out.acknowledged() >= usedUpTo) {
                closed = true;
                deregistered = true;
                core.endpoint.slabs.endLending(mr);
            }
            return deregistered || core.sendsOver;
        } finally {
            core.exit();
        }
    }
}
