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
import org.jrsocket.protocol.Pump;
import org.jrsocket.protocol.SendLimits;

/** The writing half of a stream. It waits, and makes long copies, without the core's lock. */
final class StreamWriter {

    private final StreamDriver core;

    private boolean droppedWhileCorked; // guarded by the core's lock

    StreamWriter(StreamDriver core) {
        this.core = core;
    }

    // ---- calls: enter the core, and then the writer's place ----

    /** See {@code RdmaStream.write(byte[], int, int, long)}. */
    void write(byte[] source, int offset, int length, long nanos) throws IOException {
        core.enter();
        try {
            enter();
            try {
                int end = offset + length;
                int at = offset + dropFirstWrite(length);
                while (at < end) {
                    checkWritable();
                    if (mayWriteNow(end - at)) {
                        int left = end - at;
                        nextBytes(left).put(nextOffset(left), source, at, left);
                        writeNow(left);
                        return;
                    }
                    int n = put(source, at, end - at);
                    if (n > 0) {
                        at += n;
                        flushWritten(length);
                    } else if (!core.waits.await(StreamCore.WRITABLE, nanos)) {
                        throw new SocketTimeoutException("Write timed out");
                    }
                }
            } finally {
                leave();
            }
        } finally {
            core.exit();
        }
    }

    /** See {@code RdmaStream.write(ByteBuffer)}. */
    int write(ByteBuffer source) throws IOException {
        core.enter();
        try {
            enter();
            try {
                int call = source.remaining();
                int dropped = dropFirstWrite(call);
                if (dropped > 0) {
                    source.position(source.position() + dropped);
                    return dropped;
                }
                checkWritable();
                if (call > 0 && mayWriteNow(call)) {
                    nextBytes(call).put(nextOffset(call), source, source.position(), call);
                    source.position(source.limit());
                    writeNow(call);
                    return call;
                }
                int sum = 0;
                while (source.hasRemaining()) {
                    int n = put(source);
                    if (n == 0) {
                        core.poll();
                        n = put(source);
                        if (n == 0) {
                            break;
                        }
                    }
                    sum += n;
                    flushWritten(call);
                }
                return sum;
            } finally {
                leave();
            }
        } finally {
            core.exit();
        }
    }

    /** See {@code RdmaStream.probe}. */
    void probe() throws IOException {
        core.enter();
        try {
            enter();
            try {
                core.pollMessages();
                if (dropFirstWrite(1) == 0) {
                    checkWritable();
                }
            } finally {
                leave();
            }
        } finally {
            core.exit();
        }
    }

    /** See {@code RdmaStream.write(ByteBuffer[], int, int)}. */
    long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        core.enter();
        try {
            enter();
            try {
                long call = 0;
                for (int i = offset; i < offset + length; i++) {
                    call += sources[i].remaining();
                }
                int dropped = dropFirstWrite(call);
                if (dropped > 0) {
                    skip(sources, offset, dropped);
                    return dropped;
                }
                checkWritable();
                if (call > 0 && call <= StreamReader.SHORT_COPY && mayWriteNow((int) call)) {
                    writeNow(sources, offset, offset + length, (int) call);
                    return call;
                }
                return gather(sources, offset, offset + length);
            } finally {
                leave();
            }
        } finally {
            core.exit();
        }
    }

    /** See {@code RdmaStream.awaitWritable}. */
    boolean awaitWritable(long nanos) throws IOException {
        core.enter();
        try {
            enter();
            try {
                return core.waits.await(StreamCore.WRITABLE, nanos);
            } finally {
                leave();
            }
        } finally {
            core.exit();
        }
    }

    /** See {@code RdmaStream.cork}. */
    void cork(boolean on) {
        core.enter();
        try {
            if (on) {
                core.leftover.cork();
            } else {
                core.pipeBroken |= droppedWhileCorked;
                core.leftover.uncork();
            }
        } finally {
            core.exit();
        }
    }

    // ---- parts of them, with the core's lock ----

    /** Flushes. If the peer's room is used up, checks whether more has come in the meantime. */
    void flushWritten(int call) {
        core.leftover.flushWritten(call);
        if (core.out.waitsForPeer()) {
            core.poll();
        }
    }

    private static void skip(ByteBuffer[] sources, int from, int bytes) {
        for (int i = from, left = bytes; left > 0; i++) {
            int n = Math.min(left, sources[i].remaining());
            sources[i].position(sources[i].position() + n);
            left -= n;
        }
    }

    /** Writes all buffers if all can be read, otherwise none. */
    private void writeNow(ByteBuffer[] sources, int from, int to, int call) {
        ByteBuffer target = nextBytes(call);
        int at = nextOffset(call);
        for (int i = from; i < to; i++) {
            ByteBuffer source = sources[i];
            target.put(at, source, source.position(), source.remaining());
            at += source.remaining();
        }
        for (int i = from; i < to; i++) {
            sources[i].position(sources[i].limit());
        }
        writeNow(call);
    }

    private long gather(ByteBuffer[] sources, int from, int to) {
        long sum = 0;
        int unsent = 0;
        boolean polled = false;
        for (int i = from; i < to; ) {
            int n;
            try {
                n = put(sources[i]);
            } catch (RuntimeException | Error e) { // a source that cannot be read; see put
                if (sum == 0) {
                    throw e;
                }
                break; // the next call meets it again
            }
            sum += n;
            unsent += n;
            boolean full = n == 0 && sources[i].hasRemaining();
            if (n > 0) {
                polled = false;
            }
            if (unsent >= SendLimits.BULK || full && unsent > 0) {
                flushWritten(unsent);
                unsent = 0;
            } else if (full) {
                if (polled) {
                    break;
                }
                core.poll();
                polled = true;
            }
            if (!sources[i].hasRemaining()) {
                i++;
            }
        }
        if (unsent > 0) {
            flushWritten(unsent);
        }
        return sum;
    }

    /** Enters as the only writer. Nothing of the stream is freed until {@link #leave}. */
    void enter() throws SocketException {
        if (core.writerInside) {
            throw new IllegalStateException("another thread is already writing to this stream");
        }
        StreamReader.ensureUsable(core);
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
            core.pipeBroken = true; // a writer that has been told is told again
            throw new SocketException("Broken pipe");
        }
    }

    /**
     * Drops a write if it is the first one after the peer's close. As over TCP, it succeeds, and nobody gets the data:
     * the kernel learns only from the answer that the peer is gone. Some programs depend on this, such as those that
     * flush before they close, and do not close if that fails. What is written while corked counts as one write.
     *
     * @return how much of {@code length} is dropped; 0 if this is not such a write
     */
    int dropFirstWrite(long length) {
        boolean first = length > 0 && core.peerGone && core.ended && !core.pipeBroken;
        if (!first || core.failure != null || core.outputShut || core.closed) {
            return 0;
        }
        if (core.leftover.isCorked()) {
            droppedWhileCorked = true;
        } else {
            core.pipeBroken = true;
        }
        return (int) Math.min(length, SendLimits.MAX_MESSAGE);
    }

    /**
     * Copies what fits in one piece, at most one message, which then has to be flushed. Returns how much was copied;
     * nothing once the stream has ended.
     */
    int put(byte[] source, int offset, int length) {
        int n = Math.min(Math.min(writeRoom(), SendLimits.MAX_MESSAGE), length);
        if (n > 0) {
            RegisteredSlab slab = (RegisteredSlab) core.connection.sendMemory().slab();
            int at = reserve(slab);
            boolean shortCopy = n <= StreamReader.SHORT_COPY;
            int copied = 0;
            if (!shortCopy) {
                core.exit();
            }
            try {
                slab.bytes.put(at, source, offset, n);
                copied = n;
            } finally {
                if (!shortCopy) {
                    core.enter();
                }
                n = wrote(copied);
            }
        }
        return n;
    }

    /** Copies like {@link #put(byte[], int, int)}, and moves the source's position. */
    private int put(ByteBuffer source) {
        int n = Math.min(Math.min(writeRoom(), SendLimits.MAX_MESSAGE), source.remaining());
        if (n > 0) {
            RegisteredSlab slab = (RegisteredSlab) core.connection.sendMemory().slab();
            int at = reserve(slab);
            int from = source.position();
            boolean shortCopy = n <= StreamReader.SHORT_COPY;
            int copied = 0;
            if (!shortCopy) {
                core.exit();
            }
            try {
                slab.bytes.put(at, source, from, n);
                copied = n;
            } finally { // also if the source cannot be read: its arena may be closed, its file truncated
                if (!shortCopy) {
                    core.enter();
                }
                n = wrote(copied);
            }
            source.position(from + n);
        }
        return n;
    }

    private int writeRoom() {
        return core.growth.writeRoom(core.leftover.isStreaming());
    }

    /** Returns whether {@code n} bytes may go out now, by a copy to {@link #nextBytes} and {@link #writeNow}. */
    private boolean mayWriteNow(int n) {
        if (n > StreamReader.SHORT_COPY) {
            return false;
        }
        if (!core.pump.mayWriteNow(n)) {
            core.react(core.pump.pollIfBusy());
            if (!core.pump.mayWriteNow(n)) {
                return false;
            }
        }
        return core.leftover.goesAtOnce();
    }

    /** Returns where {@code n} bytes that go out at once are copied to, from {@link #nextOffset} on. */
    private ByteBuffer nextBytes(int n) {
        return core.pump.isInline(n)
                ? core.queues.payload()
                : ((RegisteredSlab) core.connection.sendMemory().slab()).bytes;
    }

    private int nextOffset(int n) {
        return core.pump.isInline(n) ? 0 : core.connection.sendMemory().filled();
    }

    /** Sends the bytes copied there. */
    private void writeNow(int n) {
        Pump pump = core.pump;
        core.react(pump.isInline(n) ? pump.writeInline(core.queues.payloadAddress(), n) : pump.writeCopied(n));
    }

    private int reserve(RegisteredSlab slab) {
        return (int) (core.connection.sendMemory().reserve() - slab.address());
    }

    /** Counts {@code n} written bytes, but none if the stream ended during an unlocked copy: nobody gets them. */
    private int wrote(int n) {
        int taken = core.out.isOpen() ? n : 0;
        core.connection.wrote(taken);
        return taken;
    }
}
