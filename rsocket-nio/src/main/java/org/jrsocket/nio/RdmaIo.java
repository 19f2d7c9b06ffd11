/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.SelectionKey;
import java.util.concurrent.TimeUnit;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.ResetNews;
import org.jrsocket.stream.StreamFailure;

/** The input and output of a channel over RDMA. The channel lets one reader and one writer in at a time. */
final class RdmaIo {

    /** The operations that a connection can become ready for when sends complete; see {@link #now}. */
    static final int SENDS = SelectionKey.OP_WRITE | SelectionKey.OP_CONNECT;

    private final RdmaStream stream;
    private volatile boolean inputShut;
    private volatile boolean outputShut;
    private final ResetNews news = new ResetNews();
    private volatile SocketException reset; // the one that a reader was told of; written by readers, one at a time

    RdmaIo(RdmaStream stream) {
        this.stream = stream;
    }

    /** Throws if a reader was told of a reset: as in the JDK, it is told so each time, even if it asks for nothing. */
    private void ensureNoReset() throws SocketException {
        SocketException told = reset;
        if (told != null) {
            throw StreamFailure.passOn(told, new SocketException(told.getMessage()));
        }
    }

    /** Reads without waiting. Returns 0 if there is nothing to read, -1 at the end. */
    int read(ByteBuffer target) throws IOException {
        ensureNoReset();
        if (inputShut) {
            return -1; // whether or not there is room to read into
        }
        checkWritable(target);
        try {
            return stream.read(target);
        } catch (SocketException e) {
            if (tellReader(e)) {
                return -1;
            }
            throw e;
        }
    }

    /** Returns what {@link ResetNews#tellReader} returns, and remembers a reset of which the reader is told. */
    boolean tellReader(SocketException e) {
        boolean end = news.tellReader(e);
        if (!end && ResetNews.isFailure(e)) {
            reset = e;
        }
        return end;
    }

    /** Reads as {@link #read(ByteBuffer)} does, into several buffers in turn. */
    long read(ByteBuffer[] targets, int offset, int length) throws IOException {
        ensureNoReset();
        if (inputShut) {
            return -1;
        }
        checkWritable(targets, offset, length);
        return readNow(targets, offset, length, 0);
    }

    /** @param before the number of bytes that were read before, which are reported whatever happens now */
    private long readNow(ByteBuffer[] targets, int offset, int length, long before) throws IOException {
        long sum = before;
        int i = offset;
        int start = 0; // of the i-th
        try {
            for (; i < offset + length; i++) {
                start = targets[i].position();
                int n = stream.read(targets[i]);
                if (n < 0) {
                    return sum == 0 ? -1 : sum;
                }
                sum += n;
                if (targets[i].hasRemaining()) {
                    break;
                }
            }
        } catch (SocketException e) {
            if (sum == 0) {
                if (tellReader(e)) {
                    return -1;
                }
                throw e;
            }
        } catch (RuntimeException e) { // a buffer of a closed arena, for example, behind others that are filled
            sum += targets[i].position() - start;
            if (sum == 0) {
                throw e;
            }
        }
        return sum; // after a failure too: the next read reports it
    }

    /** Refuses a read-only buffer, as the JDK does: even with nothing to read, but not after {@link #shutdownInput}. */
    private void checkWritable(ByteBuffer target) {
        if (!inputShut && target.isReadOnly()) {
            throw new IllegalArgumentException("Read-only buffer");
        }
    }

    private void checkWritable(ByteBuffer[] targets, int offset, int length) {
        for (int i = offset; i < offset + length; i++) {
            checkWritable(targets[i]);
        }
    }

    /**
     * Reads, and waits for the first bytes.
     *
     * @param nanos 0 waits for ever
     */
    int readBlocking(ByteBuffer target, long nanos) throws IOException {
        ensureNoReset();
        checkWritable(target);
        if (!inputShut && !target.hasRemaining()) {
            return 0;
        }
        if (inputShut) {
            return -1;
        }
        try {
            return stream.read(target, nanos);
        } catch (SocketException e) {
            if (tellReader(e)) {
                return -1;
            }
            throw e;
        }
    }

    /** Reads as {@link #readBlocking(ByteBuffer, long)} does, into several buffers in turn, without a time limit. */
    long readBlocking(ByteBuffer[] targets, int offset, int length) throws IOException {
        ensureNoReset();
        checkWritable(targets, offset, length);
        int first = offset;
        while (first < offset + length && !targets[first].hasRemaining()) {
            first++;
        }
        if (first == offset + length) {
            return inputShut ? -1 : 0;
        }
        int n = readBlocking(targets[first], 0);
        int rest = offset + length - first - 1;
        boolean more = n > 0 && rest > 0 && !targets[first].hasRemaining();
        return more ? readNow(targets, first + 1, rest, n) : n;
    }

    /** Writes what there is room for, without waiting. Writing no bytes succeeds whatever has become of the peer. */
    int write(ByteBuffer source) throws IOException {
        return source.hasRemaining() ? stream.write(source) : 0;
    }

    /** Writes as {@link #write(ByteBuffer)} does, from several buffers in turn. */
    long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        return hasRemaining(sources, offset, length) ? stream.write(sources, offset, length) : 0;
    }

    private static boolean hasRemaining(ByteBuffer[] buffers, int offset, int length) {
        for (int i = offset; i < offset + length; i++) {
            if (buffers[i].hasRemaining()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Writes all of {@code one}, or if that is null of {@code sources}; less if that becomes impossible on the way, of
     * which the next write is told.
     */
    long writeBlocking(ByteBuffer one, ByteBuffer[] sources, int offset, int length) throws IOException {
        long sum = 0;
        try {
            while (one != null ? one.hasRemaining() : hasRemaining(sources, offset, length)) {
                long n = one != null ? stream.write(one) : stream.write(sources, offset, length);
                sum += n;
                if (n == 0) {
                    stream.awaitWritable(0);
                }
            }
        } catch (SocketException e) {
            if (sum == 0) {
                throw e;
            }
        }
        return sum;
    }

    /** Returns what to throw to a writer, which differs from what a reader is told, and is no SocketException. */
    IOException ofWriter(SocketException e) {
        return StreamFailure.passOn(e, new IOException(news.toWriter(e)));
    }

    /** Throws if the output is shut: as in the JDK, whether that was before the write or while it waited. */
    void ensureOutputOpen() throws AsynchronousCloseException {
        if (outputShut) {
            throw new AsynchronousCloseException();
        }
    }

    void shutdownInput() throws IOException {
        if (!inputShut) {
            inputShut = true;
            stream.shutdownInput();
        }
    }

    void shutdownOutput() throws IOException {
        if (!outputShut) {
            outputShut = true;
            stream.shutdownOutput();
        }
    }

    boolean isInputShut() {
        return inputShut;
    }

    boolean isOutputShut() {
        return outputShut;
    }

    int available() throws IOException {
        return stream.available();
    }

    /** Probes the stream; see {@link RdmaStream#probe}. */
    void probe() throws IOException {
        stream.probe();
    }

    /**
     * Closes the stream as SO_LINGER says: 0 resets, more than 0 waits up to that many seconds for what was written to
     * arrive.
     *
     * @param endFirst whether the peer reads the end before a reset that is due to unread data
     */
    void close(int linger, boolean endFirst) {
        if (linger == 0) {
            stream.abort();
            return;
        }
        if (endFirst) {
            stream.closeAfterEnd();
        } else {
            stream.close();
        }
        if (linger > 0) {
            stream.awaitDrained(TimeUnit.SECONDS.toNanos(linger));
        }
    }

    /**
     * Returns the operations of {@code interest} that are ready.
     *
     * @param poll whether to poll if not all of them are; if false, any thread may call this, even with locks of the
     *     stream held
     */
    int readyOps(int interest, boolean poll) {
        int ops = now(interest);
        if (poll && ops != (interest & (SelectionKey.OP_READ | SENDS))) {
            if ((interest & SENDS) != 0) {
                stream.poll();
            } else {
                stream.pollMessages();
            }
            ops = now(interest);
        }
        return ops;
    }

    private int now(int interest) {
        int ops = 0;
        if ((interest & SelectionKey.OP_READ) != 0 && stream.isReadable()) {
            ops |= SelectionKey.OP_READ;
        }
        if ((interest & SelectionKey.OP_WRITE) != 0 && stream.isWritable()) {
            ops |= SelectionKey.OP_WRITE;
        }
        // Never ready for a program that knows only NIO: see ChannelAccess.streamOf.
        if ((interest & SelectionKey.OP_CONNECT) != 0 && stream.isAcknowledged()) {
            ops |= SelectionKey.OP_CONNECT;
        }
        return ops;
    }
}
