/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jrsocket.stream.BorrowedBytes;
import org.jrsocket.stream.RdmaStream;

/**
 * Hands out the received bytes themselves where possible. Netty allocates a buffer and then reads into it; here the
 * buffer has its bytes when it is allocated, and the read that follows has nothing left to do. Used only by the event
 * loop.
 */
@SuppressWarnings("deprecation") // Netty's own name for a handle
final class LendingHandle extends RecvByteBufAllocator.DelegatingHandle {

    private final RdmaStream stream;
    private final ByteBuffer first = ByteBuffer.allocate(1);
    private ByteBuf borrowed; // allocated with its bytes, to be read next
    private int there; // how much to copy if nothing is lent: what comes later can be lent in its turn

    LendingHandle(RecvByteBufAllocator.Handle delegate, RdmaStream stream) {
        super(delegate);
        this.stream = stream;
    }

    @Override
    public ByteBuf allocate(ByteBufAllocator allocator) {
        BorrowedBytes bytes = null;
        there = 0;
        try {
            bytes = stream.borrow(guess());
            if (bytes == null) {
                there = stream.available();
                bytes = there > 0 ? stream.borrow(guess()) : null; // they may have come since
            }
        } catch (IOException e) {
            // the read that follows gets it too
        }
        if (bytes == null) {
            return super.allocate(allocator);
        }
        borrowed = lent(allocator, bytes);
        return borrowed;
    }

    private static ByteBuf lent(ByteBufAllocator allocator, BorrowedBytes bytes) {
        try {
            return RdmaByteBufAllocator.leakAware(LentByteBuf.of(allocator, bytes));
        } catch (Throwable e) { // lack of memory: Netty closes the channel, which waits for what it has lent
            bytes.close();
            throw e;
        }
    }

    /** Returns whether {@code buffer} was allocated with its bytes. If so, they count as read: true only once. */
    @SuppressWarnings("ReferenceEquality") // which buffer, not what is in it
    boolean takeBorrowed(ByteBuf buffer) {
        if (buffer != borrowed) {
            return false;
        }
        borrowed = null;
        return true;
    }

    /** Returns how much there was to copy when the buffer was allocated. */
    int there() {
        return there;
    }

    /** Returns the result of a read that found nothing: 0, or -1 at the end. */
    int look() throws IOException {
        return Math.min(0, stream.peek(first.clear()));
    }
}
