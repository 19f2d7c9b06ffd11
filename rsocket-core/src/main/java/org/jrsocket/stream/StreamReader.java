/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.net.SocketException;
import java.nio.ByteBuffer;
import org.jrsocket.protocol.Inbound;

/** The reading half of a stream's calls. All of it with the core's lock, except for long copies. */
final class StreamReader {

    /** So many bytes are copied with the lock: it takes less time than handing the lock on. */
    static final int SHORT_COPY = 4096;

    /** Fewer bytes are copied: lending them costs more. */
    private static final int LEAST_LENT = 512;

    private final StreamCore core;
    private final Inbound in;

    StreamReader(StreamCore core) {
        this.core = core;
        this.in = core.in;
    }

    /** One reader at a time; until {@link #leave} nothing of the stream is freed. */
    void enter() throws SocketException {
        if (core.readerInside) {
            throw new IllegalStateException("a second reader in one stream; callers take turns");
        }
        checkUsable();
        core.readerInside = true;
    }

    private void checkUsable() throws SocketException {
        if (core.closed) {
            throw new SocketException("Socket closed");
        }
        if (core.releasing) {
            throw again(core.failure, "Connection reset");
        }
    }

    void leave() {
        core.readerInside = false;
        core.discardInput();
    }

    /** Copies out what is there, at most {@code length} bytes; 0 if nothing is. */
    int take(byte[] target, int offset, int length) {
        int sum = 0;
        while (sum < length && !core.inputShut && !core.closed) {
            int n = Math.min(in.piece(), length - sum);
            if (n == 0) {
                break;
            }
            RegisteredSlab slab = (RegisteredSlab) in.slab();
            int from = (int) (in.address() - slab.address());
            boolean shortCopy = n <= SHORT_COPY;
            if (!shortCopy) {
                core.exit();
            }
            try {
                slab.bytes.get(from, target, offset + sum, n);
            } finally {
                if (!shortCopy) {
                    core.enter();
                }
            }
            sum += n;
            consume(n);
        }
        return sum;
    }

    /** As {@link #take(byte[], int, int)}; moves the target's position. */
    int take(ByteBuffer target) {
        int sum = 0;
        while (target.hasRemaining() && !core.inputShut && !core.closed) {
            boolean shortCopy = Math.min(in.piece(), target.remaining()) <= SHORT_COPY;
            int n;
            if (shortCopy) {
                n = copyPiece(target);
            } else {
                RegisteredSlab slab = (RegisteredSlab) in.slab();
                int from = (int) (in.address() - slab.address());
                int length = Math.min(in.piece(), target.remaining());
                core.exit();
                try {
                    n = copy(slab, from, length, target);
                } finally {
                    core.enter();
                }
            }
            if (n == 0) {
                break;
            }
            sum += n;
            consume(n);
        }
        return sum;
    }

    /** Copies from the first piece without consuming it; moves the target's position. */
    int copyPiece(ByteBuffer target) {
        int n = Math.min(in.piece(), target.remaining());
        if (n == 0) {
            return 0;
        }
        RegisteredSlab slab = (RegisteredSlab) in.slab();
        return copy(slab, (int) (in.address() - slab.address()), n, target);
    }

    /** Lends bytes of the first piece; null if there is none, or if it is to be copied. */
    BorrowedBytes borrow(int most) {
        int n = Math.min(in.piece(), most);
        if (n < LEAST_LENT || !in.mayLend()) {
            return null;
        }
        RegisteredSlab slab = (RegisteredSlab) in.slab();
        BorrowedBytes bytes = new BorrowedBytes(core, slab, (int) (in.address() - slab.address()), n);
        in.lend(n);
        core.borrowed++;
        core.hasRead();
        return bytes;
    }

    private static int copy(RegisteredSlab slab, int from, int n, ByteBuffer target) {
        int to = target.position();
        target.put(to, slab.bytes, from, n);
        target.position(to + n);
        return n;
    }

    private void consume(int n) {
        core.hasRead();
        core.act(core.connection.consume(n));
    }

    /**
     * For a reader that found nothing: whether nothing will come any more. All data before the end, or before a
     * failure, is delivered first.
     */
    boolean isInputOver() throws SocketException {
        if (core.inputShut) {
            return true;
        }
        if (core.closed) {
            throw new SocketException("Socket closed");
        }
        SocketException failed = core.failure;
        if (!core.ended && failed == null || in.readable() > 0) {
            return false;
        }
        if (failed == null || core.failedAfterEnd) {
            return core.ended;
        }
        core.poll(); // perhaps a writer saw it fail, and what had arrived is still in the queue
        if (in.readable() > 0) {
            return false;
        }
        throw again(failed, "Connection reset");
    }

    static SocketException again(SocketException first, String message) {
        SocketException e = new SocketException(message);
        e.initCause(first);
        return e;
    }
}
