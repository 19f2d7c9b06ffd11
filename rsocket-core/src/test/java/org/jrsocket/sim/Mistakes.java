/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import org.jrsocket.protocol.Slab;

/** Where a run can be made wrong on purpose, to see that it is found. This one makes none. */
class Mistakes {

    /** The engine's queues at {@code end}. */
    SimQueues queues(EngineEnd end) {
        return new SimQueues(end.simulation, end.memory, end.queuePair);
    }

    /** The offset before which {@code end}'s application takes lent memory back. */
    long acknowledged(EngineEnd end) {
        return end.connection.out().acknowledged();
    }

    /** {@code end} has just lent something of {@code slab} to its application. */
    void lent(EngineEnd end, Slab slab) {
    }
}
