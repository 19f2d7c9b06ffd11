/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import java.nio.ByteBuffer;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.verbs.Cq;
import org.jrsocket.verbs.CqSet;

/** A set that looks at all its queues in one JNI crossing. */
final class RdmaCoreCqSet extends CqSet {

    private final NativeMemory memory; // handles of the queues, then the numbers of those that have something
    private final ByteBuffer values;
    private final int foundAt;
    private boolean freed;

    RdmaCoreCqSet(int capacity) {
        super(capacity);
        foundAt = capacity * Long.BYTES;
        memory = NativeMemory.allocate(foundAt + capacity * Integer.BYTES);
        values = memory.buffer();
    }

    @Override
    protected void put(int index, Cq queue) {
        super.put(index, queue);
        values.putLong(index * Long.BYTES, queue == null ? 0 : ((RdmaCoreCq) queue).handle());
    }

    @Override
    public int spin(long nanos) {
        return freed ? 0 : Native.spinCqs(memory.address(), size(), memory.address() + foundAt, nanos);
    }

    @Override
    public int found(int i) {
        return values.getInt(foundAt + i * Integer.BYTES);
    }

    @Override
    public void free() {
        freed = true;
        memory.free();
    }
}
