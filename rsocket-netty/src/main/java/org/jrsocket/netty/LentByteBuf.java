/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import org.jrsocket.stream.BorrowedBytes;

/**
 * Received bytes where the device has put them; they are given back with the last release. It can be changed, and not
 * grow.
 */
final class LentByteBuf extends UnpooledDirectByteBuf {

    private final BorrowedBytes bytes;

    LentByteBuf(ByteBufAllocator allocator, BorrowedBytes bytes) {
        super(allocator, bytes.writable(), bytes.writable().capacity());
        this.bytes = bytes;
    }

    @Override
    protected void deallocate() {
        super.deallocate();
        bytes.close();
    }
}
