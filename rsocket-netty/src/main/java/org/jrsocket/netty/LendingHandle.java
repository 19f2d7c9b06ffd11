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
 * Hands out received bytes themselves where that is possible. Netty allocates a buffer and then reads into it: here the
 * buffer has its bytes when it is allocated, and the read that follows finds nothing left to do. The event loop's.
 */
@SuppressWarnings("deprecation") // Netty's own name of a handle
final class LendingHandle extends RecvByteBufAllocator.DelegatingHandle {

    private final RdmaStream stream;
    private final ByteBuffer first = ByteBuffer.allocate(1);
    private ByteBuf borrowed; // allocated with its bytes, to be read next
    private int there; // what is to be copied if nothing is lent: what comes later can be lent in its turn

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
                bytes = there > 0 ? stream.borrow(guess()) : null; // it may have come since
            }
        } catch (IOException e) {
            // the read that follows gets it too
        }
        if (bytes == null) {
            return super.allocate(allocator);
        }
        borrowed = RdmaByteBufAllocator.leakAware(new LentByteBuf(allocator, bytes));
        return borrowed;
    }

    /** Whether {@code buffer} was allocated with its bytes. They count as read then: true only once. */
    @SuppressWarnings("ReferenceEquality") // which buffer, not what is in it
    boolean takeBorrowed(ByteBuf buffer) {
        if (buffer != borrowed) {
            return false;
        }
        borrowed = null;
        return true;
    }

    /** How much there was to be copied when the buffer was allocated. */
    int there() {
        return there;
    }

    /** For a read that found nothing: 0, or -1 at the end. */
    int look() throws IOException {
        return Math.min(0, stream.peek(first.clear()));
    }
}
