/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import org.jrsocket.protocol.Slab;
import org.jrsocket.wire.Imm;

/** The places where a mistake can be made on purpose, to see that a run finds it. This class makes none. */
class Mistakes {

    /** Returns the engine's queues at {@code end}. */
    SimQueues queues(EngineEnd end) {
        return new SimQueues(end.simulation, end.memory, end.queuePair);
    }

    /** Returns the offset before which {@code end}'s application takes lent memory back. */
    long acknowledged(EngineEnd end) {
        return end.connection.out().acknowledged();
    }

    /** Returns how many of the {@code n} bytes of {@code slab} that {@code end} has just lent count as given back. */
    int lent(EngineEnd end, Slab slab, int n) {
        return 0;
    }

    /**
     * A tail is stranded: a call that leaves with a rest arms only the receive queue, as if no rest waited for requests
     * to complete.
     */
    static final class StrandedTail extends Mistakes {
        @Override
        SimQueues queues(EngineEnd end) {
            return new SimQueues(end.simulation, end.memory, end.queuePair) {
                @Override
                public void arm() {
                    if (end.isLeaving()) {
                        receives.arm();
                    } else {
                        super.arm();
                    }
                }
            };
        }
    }

    /** A peer is told of one receive more than there is. */
    static final class CreditTooMany extends Mistakes {
        @Override
        SimQueues queues(EngineEnd end) {
            return new SimQueues(end.simulation, end.memory, end.queuePair) {
                @Override
                public void control(int immediate, boolean signaled) {
                    super.control(
                            Imm.op(immediate) == Imm.OP_SGL ? Imm.sgl(Imm.limit(immediate) + 1) : immediate, signaled);
                }
            };
        }
    }

    /** The same mistake where no single message shows it: one receive of each batch is not given back to the device. */
    static final class ReceiveTooFew extends Mistakes {
        @Override
        SimQueues queues(EngineEnd end) {
            return new SimQueues(end.simulation, end.memory, end.queuePair) {
                @Override
                public boolean postReceives(int count) {
                    return super.postReceives(count - 1);
                }
            };
        }
    }

    /** A slab of which something is lent is granted again as soon as it is read. */
    static final class GrantedWhileLent extends Mistakes {
        @Override
        int lent(EngineEnd end, Slab slab, int n) {
            end.act(end.connection.giveBack(slab, n));
            return n;
        }
    }

    /** What is posted counts as acknowledged. */
    static final class AcknowledgedEarly extends Mistakes {
        @Override
        long acknowledged(EngineEnd end) {
            return end.connection.out().posted();
        }
    }
}
