/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.net.SocketException;
import java.nio.ByteBuffer;

/** The writing half of a stream's calls. All of it with the core's lock, except for long copies. */
final class StreamWriter {

    private final StreamCore core;

    StreamWriter(StreamCore core) {
        this.core = core;
    }

    /** One writer at a time; until {@link #leave} nothing of the stream is freed. */
    void enter() throws SocketException {
        if (core.writerInside) {
            throw new IllegalStateException("a second writer in one stream; callers take turns");
        }
        if (core.closed) {
            throw new SocketException("Socket closed");
        }
        if (core.releasing) {
            throw StreamReader.again(core.failure, "Connection reset");
        }
        core.writerInside = true;
    }

    void leave() {
        core.writerInside = false;
    }

    void checkWritable() throws SocketException {
        if (core.closed) {
            throw new SocketException("Socket closed");
        }
        SocketException failed = core.failure;
        if (failed != null) {
            throw StreamReader.again(failed, core.peerGone ? "Broken pipe" : "Connection reset");
        }
        if (core.outputShut || core.peerGone) {
            throw new SocketException("Broken pipe");
        }
    }

    /** Takes what fits in one piece, at most one message; it has to be flushed. Returns how much. */
    int put(byte[] source, int offset, int length) {
        int n = Math.min(Math.min(core.writeRoom(), StreamCore.MAX_MESSAGE), length);
        if (n > 0) {
            RegisteredSlab slab = (RegisteredSlab) core.connection.sendMemory().slab();
            int at = reserve(slab);
            boolean shortCopy = n <= StreamReader.SHORT_COPY;
            if (!shortCopy) {
                core.exit();
            }
            try {
                slab.bytes.put(at, source, offset, n);
            } finally {
                if (!shortCopy) {
                    core.enter();
                }
                wrote(n);
            }
        }
        return n;
    }

    /** As {@link #put(byte[], int, int)}; moves the source's position. */
    int put(ByteBuffer source) {
        int n = Math.min(Math.min(core.writeRoom(), StreamCore.MAX_MESSAGE), source.remaining());
        if (n > 0) {
            RegisteredSlab slab = (RegisteredSlab) core.connection.sendMemory().slab();
            int at = reserve(slab);
            int from = source.position();
            boolean shortCopy = n <= StreamReader.SHORT_COPY;
            if (!shortCopy) {
                core.exit();
            }
            try {
                slab.bytes.put(at, source, from, n);
            } finally {
                if (!shortCopy) {
                    core.enter();
                }
                wrote(n);
            }
            source.position(from + n);
        }
        return n;
    }

    private int reserve(RegisteredSlab slab) {
        return (int) (core.connection.sendMemory().reserve() - slab.address());
    }

    /**
     * If the stream ended during a copy without the lock, the bytes are taken and go nowhere, as bytes in a socket's
     * buffer do then.
     */
    private void wrote(int n) {
        core.connection.wrote(core.out.isOpen() ? n : 0);
    }
}
