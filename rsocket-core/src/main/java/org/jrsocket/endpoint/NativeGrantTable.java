/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.protocol.GrantTable;
import org.jrsocket.wire.Grant;

/** The grant table, in memory that the peer writes. */
final class NativeGrantTable implements GrantTable {

    private final ByteBuffer bytes;

    NativeGrantTable(NativeMemory memory) {
        this.bytes = memory.buffer();
    }

    @Override
    public int length(int entry) {
        int length = Grant.length(bytes, entry * Grant.SIZE, Grant.BIG_ENDIAN_HOST);
        VarHandle.loadLoadFence(); // the rest was written before the length
        return length;
    }

    @Override
    public long address(int entry) {
        return Grant.address(bytes, entry * Grant.SIZE, Grant.BIG_ENDIAN_HOST);
    }

    @Override
    public int key(int entry) {
        return Grant.key(bytes, entry * Grant.SIZE, Grant.BIG_ENDIAN_HOST);
    }

    @Override
    public void clear(int entry) {
        Grant.clear(bytes, entry * Grant.SIZE);
    }
}
