/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import org.jrsocket.protocol.GrantTable;
import org.jrsocket.wire.Grant;

/** A grant table in simulated memory. */
final class SimTable implements GrantTable {

    final SimMemory.Region region;

    SimTable(SimMemory memory, int entries) {
        region = memory.register(entries * Grant.SIZE);
        region.table = true;
    }

    @Override
    public int length(int entry) {
        return GrantBytes.length(region.bytes, entry * Grant.SIZE);
    }

    @Override
    public long address(int entry) {
        return GrantBytes.address(region.bytes, entry * Grant.SIZE);
    }

    @Override
    public int key(int entry) {
        return GrantBytes.key(region.bytes, entry * Grant.SIZE);
    }

    @Override
    public void clear(int entry) {
        GrantBytes.length(region.bytes, entry * Grant.SIZE, 0);
    }
}
