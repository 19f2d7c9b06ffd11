/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import org.jrsocket.endpoint.RegisteredSlab;
import org.jrsocket.protocol.Inbound;

/** The reading half of a stream. It waits, and makes long copies, without the core's lock. */
final class StreamReader {

    /** Up to this many bytes are copied with the lock held, which takes less time than handing the lock on. */
    static final int SHORT_COPY = 4096;

    /** Fewer bytes are copied, unless more follow them: lending them would cost more. */
    private static final int LEAST_LENT = 512;

    private final StreamDriver core;
    private final Inbound in;

    StreamReader(StreamDriver core) {
        this.core = core;
        this.in = core.in;
    }

    // ---- calls: enter the core, and then the reader's place ----

    /** See {@code RdmaStream.read(byte[], int, int, long)}. */
    int read(byte[] target, int offset, int length, long nanos) throws IOException {
        core.enter();
        try {
            enter();
            try {
                if (length == 0) {
                    return 0;
                }
                if (in.readable() == 0 && !core.waits.isReaderLikelyToWait()) {
                    core.pollMessages(); // otherwise the wait does that
                }
                int n;
                do {
                    n = take(target, offset, length);
                } while (n == 0 && awaitMore(nanos));
                return n != 0 ? n : -1;
            } finally {
                leave();
            }
        } finally {
            core.exit();
        }
    }

    /** See {@code RdmaStream.read(ByteBuffer, long)}. */
    int read(ByteBuffer target, long nanos) throws IOException {
        core.enter();
        try {
            enter();
            try {
                if (!target.hasRemaining()) {
                    return 0;
                }
                if (in.readable() == 0 && !core.waits.isReaderLikelyToWait()) {
                    core.pollMessages(); // otherwise the wait does that
                }
                int n;
                do {
                    n = take(target);
                } while (n == 0 && awaitMore(nanos));
                return n != 0 ? n : -1;
            } finally {
                leave();
            }
        } finally {
            core.exit();
        }
    }

    /** See {@code RdmaStream.read(ByteBuffer)} and {@code RdmaStream.peek}. */
    int readNow(ByteBuffer target, boolean consume) throws IOException {
        core.enter();
        try {
            enter();
            try {
                if (!target.hasRemaining()) {
                    return 0;
                }
                if (in.readable() == 0) {
                    core.pollMessages();
                }
                int n = core.inputShut ? 0 : consume ? take(target) : copyPiece(target);
                return n != 0 ? n : isInputOver() ? -1 : 0;
            } finally {
                leave();
            }
        } finally {
            core.exit();
        }
    }

    /** See {@code RdmaStream.borrow}. */
    BorrowedBytes borrowNow(int most) throws IOException {
        core.enter();
        try {
            enter();
            try {
                if (in.readable() == 0) {
                    core.pollMessages();
                }
                return core.inputShut ? null : borrow(most);
            } finally {
                leave();
            }
        } finally {
            core.exit();
        }
    }

    /** See {@code RdmaStream.available}. */
    int available() throws IOException {
        core.enter();
        try {
            core.ensureOpen();
            core.pollMessages(); // even if something is there: programs wait for more to be available
            if (!core.phase.isFreed() && !core.inputShut) {
                core.act(core.connection.growUnread()); // and for more than an idle connection has room for
            }
            return core.inputShut ? 0 : (int) in.readable();
        } finally {
            core.exit();
        }
    }

    /** See {@code RdmaStream.awaitReadable}. */
    boolean awaitReadable(long nanos) throws IOException {
        core.enter();
        try {
            enter();
            try {
                core.pollMessages();
                return core.waits.await(StreamCore.READABLE, nanos);
            } finally {
                leave();
            }
        } finally {
            core.exit();
        }
    }

    // ---- parts of them, with the core's lock ----

    /** Enters as the only reader. Nothing of the stream is freed until {@link #leave}. */
    private void enter() throws SocketException {
        if (core.readerInside) {
            throw new IllegalStateException("another thread is already reading from this stream");
        }
        ensureUsable(core);
        core.readerInside = true;
    }

    /** Throws if the stream is closed or about to be freed, so that no thread comes in. Needs the core's lock. */
    static void ensureUsable(StreamCore core) throws SocketException {
        core.ensureOpen();
        if (core.phase.isReleasing()) {
            throw again(core.failure, "Connection reset");
        }
    }

    private void leave() {
        core.readerInside = false;
        core.discardInput();
    }

    /** Copies out what is there, at most {@code length} bytes; returns 0 if there is nothing. */
    private int take(byte[] target, int offset, int length) {
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

    /** Copies like {@link #take(byte[], int, int)}, and moves the target's position. */
    private int take(ByteBuffer target) {
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
    private int copyPiece(ByteBuffer target) {
        int n = Math.min(in.piece(), target.remaining());
        if (n == 0) {
            return 0;
        }
        RegisteredSlab slab = (RegisteredSlab) in.slab();
        return copy(slab, (int) (in.address() - slab.address()), n, target);
    }

    /** Lends bytes of the first piece; returns null if there is none, or if it should be copied. */
    private BorrowedBytes borrow(int most) {
        if (Math.min(in.readable(), most) < LEAST_LENT || !mayLend()) {
            return null;
        }
        int n = Math.min(in.piece(), most);
        RegisteredSlab slab = (RegisteredSlab) in.slab();
        BorrowedBytes kept = (BorrowedBytes) slab.takeKept();
        BorrowedBytes bytes = kept != null ? kept : new BorrowedBytes(core, core.freeing, slab);
        bytes.begin((int) (in.address() - slab.address()), n);
        in.lend(n);
        core.act(core.connection.lent()); // if this fails, nobody has anything to give back
        core.borrowed++;
        core.leftover.hasRead();
        return bytes;
    }

    private boolean mayLend() {
        if (!in.mayLend()) {
            core.act(core.connection.growToLend());
            core.growth.grow();
        }
        return in.mayLend();
    }

    private static int copy(RegisteredSlab slab, int from, int n, ByteBuffer target) {
        int to = target.position();
        target.put(to, slab.bytes, from, n);
        target.position(to + n);
        return n;
    }

    /** Waits for more, for a reader that found nothing. Returns false if nothing more will come. */
    private boolean awaitMore(long nanos) throws IOException {
        if (isInputOver()) {
            return false;
        }
        if (!core.waits.await(StreamCore.READABLE, nanos)) {
            throw new SocketTimeoutException("Read timed out");
        }
        return true;
    }

    private void consume(int n) {
        core.leftover.hasRead();
        core.act(core.connection.consume(n));
    }

    /**
     * Returns whether nothing more will come, for a reader that found nothing. All data before the end, or before a
     * failure, is delivered first.
     */
    private boolean isInputOver() throws SocketException {
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
        core.poll(); // a writer may have seen the failure, and what had arrived is still in the queue
        if (in.readable() > 0) {
            return false;
        }
        throw again(failed, "Connection reset");
    }

    static SocketException again(SocketException first, String message) {
        return StreamFailure.passOn(first, new SocketException(message));
    }
}
