/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import org.jrsocket.stream.BorrowedBytes;

/**
 * A buffer of received bytes where the device has put them; they are given back with the last release. Its content can
 * be changed, but it cannot grow.
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
