/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.nio.ByteBuffer;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.protocol.Slab;
import org.jrsocket.verbs.Mr;

/** A slab as a driver knows it: with its registration, and with a buffer through which Java reads and writes it. */
final class RegisteredSlab extends Slab {

    /** All of the slab, in native byte order; absolute access only. */
    final ByteBuffer bytes;
    /** Whether the peer may write to it. */
    final boolean remote;
    /** What is freed with it; null for a part of memory that belongs to somebody else. */
    final NativeMemory memory;

    final Mr mr;

    private RegisteredSlab(long address, int length, Mr mr, NativeMemory memory, ByteBuffer bytes, boolean remote) {
        super(address, length, mr.getLkey(), mr.getRkey());
        this.mr = mr;
        this.memory = memory;
        this.bytes = bytes;
        this.remote = remote;
    }

    /** A part of registered memory that outlives the slab. */
    static RegisteredSlab part(NativeMemory memory, int offset, int length, Mr mr, boolean remote) {
        long address = memory.address() + offset;
        return new RegisteredSlab(address, length, mr, null, NativeMemory.view(address, length), remote);
    }

    /** All of {@code memory}, which it owns together with its registration. */
    static RegisteredSlab all(NativeMemory memory, Mr mr, boolean remote) {
        return new RegisteredSlab(memory.address(), memory.size(), mr, memory, memory.buffer(), remote);
    }
}
