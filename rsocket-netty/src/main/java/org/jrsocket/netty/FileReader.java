/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.FileRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;

/** Reads a {@link FileRegion} piece by piece into memory that can be lent. The event loop's. */
final class FileReader implements WritableByteChannel {

    private ByteBuf piece; // null between two pieces

    /** What is left of the piece under way, else the next one; empty if the region gives nothing now. */
    ByteBuf next(FileRegion region, int most) throws IOException {
        if (piece == null) {
            long left = region.count() - region.transferred();
            int size = (int) Math.max(0, Math.min(left, most));
            piece = RdmaByteBufAllocator.DEFAULT.directBuffer(size, size);
            boolean read = false;
            try {
                long n = size;
                while (n > 0 && piece.isWritable() && region.transferred() < region.count()) {
                    n = region.transferTo(this, region.transferred());
                }
                read = true;
            } finally {
                if (!read) {
                    release();
                }
            }
        }
        return piece;
    }

    /** Whether it is between two pieces. */
    boolean isEmpty() {
        return piece == null;
    }

    /** The piece was sent, or cannot be. */
    void release() {
        piece.release();
        piece = null;
    }

    @Override
    public int write(ByteBuffer source) {
        int n = Math.min(source.remaining(), piece.writableBytes());
        piece.writeBytes(source.duplicate().limit(source.position() + n));
        source.position(source.position() + n);
        return n;
    }

    @Override
    public boolean isOpen() {
        return true;
    }

    @Override
    public void close() {
        if (piece != null) {
            release();
        }
    }
}
