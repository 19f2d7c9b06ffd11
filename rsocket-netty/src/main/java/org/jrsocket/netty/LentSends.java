/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.Executor;
import org.jrsocket.netty.Registrations.Registration;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.stream.RdmaStream;

/**
 * The buffers that the device sends from. Each is retained, and its memory is held, until the peer's device has
 * acknowledged its bytes or, if the connection ends before that, until the queue pair is gone. Used only by the event
 * loop; after {@link #close}, only by the thread that destroys the queue pair.
 */
final class LentSends {

    /** The least size of a piece: smaller ones would cost the device more than they are worth. */
    private static final int LEAST_PIECE = 64 * 1024;

    private final RdmaStream stream;
    private final Registrations registrations;
    private final int most;
    private final int mostAtOnce; // so that not all of it is acknowledged at the same time

    // A ring of slots, oldest first.
    private ByteBuf[] buffers = new ByteBuf[16];
    private Chunk[] chunks = new Chunk[16];
    private int[] pieces = new int[16]; // of the chunks
    private long[] ends = new long[16]; // offsets of the stream
    private int[] lengths = new int[16];
    private int head;
    private int count;
    private long bytes;
    private boolean closed;
    private final Runnable over = this::over; // made now: a channel is closed without memory, too
    private int left; // of the slots, once it is closed

    /** @param eventLoop runs what has to do with the stream */
    LentSends(RdmaStream stream, Executor eventLoop) {
        this.stream = stream;
        this.registrations = new Registrations(stream, eventLoop);
        this.most = stream.config().sendBuffer();
        this.mostAtOnce = Math.max(most / 4, LEAST_PIECE);
    }

    /** Returns the registration by which {@code piece} can be sent from where it lies; null if it has to be copied. */
    Registration registration(ByteBuffer piece) {
        Chunk chunk = Chunk.at(addressOf(piece));
        return chunk == null ? null : registrations.of(chunk);
    }

    private static long addressOf(ByteBuffer piece) {
        return NativeMemory.addressOf(piece) + piece.position();
    }

    /** Returns whether so much is in flight that more has to wait, after a look at what has been acknowledged. */
    boolean isFull() {
        if (bytes >= most) {
            release();
        }
        return bytes >= most;
    }

    /**
     * Sends the beginning of {@code piece}, or all of it, and moves its position.
     *
     * @param from the {@link #registration} of the piece
     * @param owner the message that it is a part of
     * @return how many bytes were sent
     */
    int send(Registration from, ByteBuffer piece, ByteBuf owner) throws IOException {
        if (count == buffers.length) {
            grow(); // first: once something is sent, nothing may fail
        }
        int n = Math.min(piece.remaining(), mostAtOnce);
        long address = addressOf(piece);
        int held = from.chunk().hold(address);
        boolean sent = false;
        try {
            long end = stream.writeLent(from.memory(), from.memory().offsetOf(address), n);
            sent = true;
            piece.position(piece.position() + n);
            add(owner.retain(), from.chunk(), held, end, n);
        } finally {
            if (!sent) {
                from.chunk().release(held);
            }
        }
        return n;
    }

    private void add(ByteBuf buffer, Chunk chunk, int piece, long end, int length) {
        int slot = slot(count++);
        buffers[slot] = buffer;
        chunks[slot] = chunk;
        pieces[slot] = piece;
        ends[slot] = end;
        lengths[slot] = length;
        bytes += length;
    }

    private int slot(int index) {
        return head + index & buffers.length - 1;
    }

    private void grow() {
        int size = buffers.length;
        ByteBuf[] newBuffers = new ByteBuf[2 * size];
        Chunk[] newChunks = new Chunk[2 * size];
        int[] newPieces = new int[2 * size];
        long[] newEnds = new long[2 * size];
        int[] newLengths = new int[2 * size];
        for (int i = 0; i < count; i++) {
            newBuffers[i] = buffers[slot(i)];
            newChunks[i] = chunks[slot(i)];
            newPieces[i] = pieces[slot(i)];
            newEnds[i] = ends[slot(i)];
            newLengths[i] = lengths[slot(i)];
        }
        buffers = newBuffers;
        chunks = newChunks;
        pieces = newPieces;
        ends = newEnds;
        lengths = newLengths;
        head = 0;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** Releases what has been acknowledged. */
    void release() {
        if (count == 0) {
            return;
        }
        long upTo = stream.acknowledged();
        while (count > 0 && ends[head] <= upTo) {
            int done = head;
            bytes -= lengths[done];
            head = slot(1);
            count--;
            letGo(done);
        }
    }

    private void letGo(int slot) {
        ByteBuf buffer = buffers[slot];
        Chunk chunk = chunks[slot];
        buffers[slot] = null;
        chunks[slot] = null;
        ReferenceCountUtil.safeRelease(buffer);
        try {
            chunk.release(pieces[slot]);
        } catch (OutOfMemoryError e) {
            // the piece is lost, and those behind it must not be
        }
    }

    /**
     * Returns the offset to wait for; there must be something to wait for. While more is to be sent, it is where half
     * of the room is free again, otherwise the end.
     */
    long awaited() {
        if (bytes < most) {
            return ends[slot(count - 1)];
        }
        long left = bytes;
        for (int i = 0; i < count - 1; i++) {
            left -= lengths[slot(i)];
            if (left <= most / 2) {
                return ends[slot(i)];
            }
        }
        return ends[slot(count - 1)];
    }

    /** Ends the sends of a closed stream: what is left is released once it no longer sends. Harmless when repeated. */
    void close() {
        if (closed) {
            return;
        }
        closed = true;
        release();
        left = count;
        count = 0; // nothing is added any more
        bytes = 0;
        stream.whenSendsAreOver(over);
    }

    private void over() {
        registrations.over();
        for (int i = 0; i < left; i++) {
            letGo(slot(i));
        }
    }
}
