/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.FileRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.WritableByteChannel;

/**
 * Reads a {@link FileRegion} piece by piece into memory that can be lent. A region that writes until everything is
 * taken would write for ever, because nothing is sent in the meantime: it gets a piece for all of it. Used only by the
 * event loop.
 */
final class FileReader implements WritableByteChannel {

    private ByteBuf piece; // null between two pieces
    private Throwable failure; // of the region, after it had given something: reported once that is sent
    private boolean closed; // by a region
    private boolean full; // a write during this transfer was not taken as a whole
    private IOException refusal; // of this reader, to a region that gives more than it has
    private long most; // size of a piece that has all that is left of the region

    /**
     * Returns what is left of the current piece, otherwise the next one; empty if the region gives nothing now.
     *
     * @throws Exception if the region threw it; what it had given before came as a piece, as over TCP
     */
    ByteBuf next(FileRegion region, int pieceSize) throws Exception {
        if (piece == null) {
            if (failure != null) {
                Throwable told = failure;
                failure = null;
                if (told instanceof Error error) {
                    throw error;
                }
                throw (Exception) told;
            }
            read(region, pieceSize);
        }
        return piece;
    }

    private void read(FileRegion region, int pieceSize) throws Exception {
        long left = region.count() - region.transferred();
        int size = (int) Math.max(0, Math.min(left, pieceSize));
        piece = RdmaByteBufAllocator.DEFAULT.directBuffer(size);
        most = left;
        boolean read = false;
        try {
            long n = size;
            while (n > 0 && !closed && piece.isWritable() && region.transferred() < region.count()) {
                full = false;
                n = region.transferTo(this, region.transferred());
            }
            read = true;
        } catch (IOException | RuntimeException | Error e) {
            if (!piece.isReadable() || e == refusal) {
                throw e;
            }
            failure = e;
            read = true;
        } finally {
            if (!read) {
                release();
            }
        }
    }

    /** Returns whether the reader is between two pieces. */
    boolean isEmpty() {
        return piece == null;
    }

    /** Returns whether the region has failed, which the next call of {@link #next} throws: the region is not done. */
    boolean hasFailed() {
        return failure != null;
    }

    /** Releases the piece, which was sent or cannot be. */
    void release() {
        piece.release();
        piece = null;
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        if (closed) {
            throw new ClosedChannelException();
        }
        if (full) {
            grow();
        }
        int n = Math.min(source.remaining(), piece.writableBytes());
        piece.writeBytes(source.duplicate().limit(source.position() + n));
        source.position(source.position() + n);
        full = source.hasRemaining();
        return n;
    }

    private void grow() throws IOException {
        if (piece.capacity() >= most) {
            throw refuse("a file region writes more than its size: it has " + most + " bytes, and " + piece.capacity()
                    + " were taken");
        }
        if (most > Integer.MAX_VALUE) {
            throw refuse("a file region writes until all of it is taken, and has " + most
                    + " bytes: no buffer can be as large");
        }
        piece.capacity((int) most);
    }

    private IOException refuse(String why) {
        refusal = new IOException(why);
        return refusal;
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    /** Called by a region: what it has given is still sent. */
    @Override
    public void close() {
        closed = true;
    }

    /** Returns whether a region has closed the reader. */
    boolean isClosed() {
        return closed;
    }

    /** Gives up what was read and not sent. Harmless when repeated. */
    void giveUp() {
        failure = null;
        if (piece != null) {
            release();
        }
    }
}
