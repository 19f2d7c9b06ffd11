/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import java.util.function.IntSupplier;
import org.jrsocket.protocol.Connection;
import org.jrsocket.protocol.Effects;
import org.jrsocket.protocol.Inbound;
import org.jrsocket.protocol.Outbound;
import org.jrsocket.protocol.Pump;
import org.jrsocket.protocol.SendLimits;
import org.jrsocket.protocol.SendMemory;
import org.jrsocket.protocol.Slab;
import org.jrsocket.wire.ConnData;

/** Two ends that are the engine, with one thread each that never sleeps, on a link whose times are given. */
final class LinkPair {

    // A stream's default, as are the next two: LinkTableTest compares them.
    static final int SLOTS = 63;
    static final int CREDITS = 231;
    private static final int ENTRIES = 16;
    static final int SMALLEST = 8 << 10;
    private static final int MOST = 16 << 20;
    static final int INLINE = 128;
    private static final int CHAIN = 16;
    /** The bytes that a writer copies before it lets the device begin. */
    private static final int CHUNK = 64 << 10;
    /** The longest copy that can go out at once: longer ones are made without the stream's lock. */
    private static final int SHORT_COPY = 4096;

    private static final SendLimits LIMITS = SendLimits.standard(SLOTS, 1, 2, INLINE);

    private final Simulation simulation = new Simulation(0);
    final Side[] sides = new Side[2];

    LinkPair(int gigabits, int microseconds, int requestNanos) {
        simulation.reset(1);
        Link link = new Link(simulation);
        link.give(gigabits, 1000L * microseconds, requestNanos);
        sides[0] = new Side("A", link);
        sides[1] = new Side("B", link);
        ConnData first = sides[0].make(sides[1]);
        ConnData second = sides[1].make(sides[0]);
        sides[0].connected(second);
        sides[1].connected(first);
    }

    long now() {
        return simulation.now();
    }

    void runUntil(long time) {
        while (simulation.next() <= time) {
            simulation.step();
        }
    }

    /** One end: a thread that calls its program again and again, each time as much later as the last call took. */
    final class Side implements Simulation.Target {

        private final SimMemory memory;
        private final SimQueuePair queuePair;
        private final SimSlabs slabs;
        private final CostedQueues queues;
        private int target;
        private SimTable table;
        private Slab first;
        private Connection connection;
        private Pump pump;
        private SimMemory.Region lent;
        private long bytesRead;
        private int left; // of a write that has begun
        /** What the thread does; returns how long that takes. */
        IntSupplier program;

        Side(String name, Link link) {
            memory = new SimMemory(simulation, name);
            queuePair = new SimQueuePair(simulation, link, memory, name);
            slabs = new SimSlabs(simulation, memory);
            queues = new CostedQueues(memory, queuePair);
        }

        private ConnData make(Side peer) {
            memory.reset(false);
            slabs.reset(0, Long.MAX_VALUE, 0);
            int receives = CREDITS + Inbound.SPARE_RECEIVES;
            queues.reset(SLOTS, receives, CHAIN, INLINE, false, () -> {});
            queuePair.reset(peer.queuePair, SLOTS, INLINE, queues.sends, queues.receives, false, false);
            queuePair.rules.reset(false, false);
            table = new SimTable(memory, ENTRIES);
            first = slabs.make(SMALLEST);
            lent = memory.register(1 << 20);
            queuePair.postReceives(receives);
            target = simulation.enter(this);
            simulation.at(0, target, 0);
            return ConnData.local(
                            CREDITS,
                            table.region.base,
                            table.region.remoteKey(),
                            ENTRIES,
                            first.address(),
                            first.remoteKey(),
                            SMALLEST)
                    .withFeatures(ConnData.FEATURE_RESET | ConnData.FEATURE_RELEASE);
        }

        private void connected(ConnData peer) {
            connection = new Connection(
                    new Inbound(peer, ENTRIES, CREDITS, first, MOST),
                    new Outbound(LIMITS, peer, ENTRIES, CREDITS),
                    new SendMemory(slabs.make(SMALLEST), MOST),
                    slabs,
                    table);
            pump = new Pump(connection, queues, CREDITS + Inbound.SPARE_RECEIVES);
            act(connection.open());
        }

        @Override
        public void event(int kind) {
            simulation.after(Math.max(1, program.getAsInt()), target, 0);
        }

        private void act(int effects) {
            if (Effects.has(effects, Effects.SEND)) {
                pump.flush();
            }
        }

        /** Writes {@code n} bytes, or the next part of them, and returns the time that this took. */
        int write(int n) {
            queues.spent = 0;
            if (left == 0) {
                left = n;
                queues.spent += LinkTable.call();
                if (n <= SHORT_COPY && pump.mayWriteNow(n)) {
                    left = 0;
                    queues.spent += LinkTable.copying(n);
                    if (pump.isInline(n)) {
                        pump.writeInline(lent.base, n);
                    } else {
                        pump.writeCopied(n);
                    }
                    return queues.spent;
                }
            }
            int room = Math.min(Math.min(left, CHUNK), connection.writeRoom());
            if (room == 0) {
                pump.poll();
                return queues.spent;
            }
            connection.sendMemory().reserve();
            connection.wrote(room);
            left -= room;
            queues.spent += LinkTable.copying(room);
            pump.flush();
            if (connection.hasLeftover()) {
                pump.poll();
            }
            return queues.spent;
        }

        /** Lends {@code n} bytes, unless the device has enough of them already. */
        int lend(int n) {
            queues.spent = 0;
            Outbound out = connection.out();
            if (out.written() - out.acknowledged() + n > MOST) {
                pump.poll();
                return queues.spent;
            }
            queues.spent += LinkTable.call();
            out.write(lent.base, n, lent.localKey(), true);
            pump.flush();
            pump.leave();
            return queues.spent;
        }

        int read(int most, boolean borrows) {
            queues.spent = 0;
            Inbound in = connection.in();
            if (in.readable() == 0) {
                pump.poll();
            }
            int n = Math.min(most, in.piece());
            if (n == 0) {
                return queues.spent;
            }
            queues.spent += LinkTable.call();
            if (borrows && in.mayLend()) {
                Slab slab = in.lend(n);
                act(connection.giveBack(slab, n));
            } else {
                queues.spent += LinkTable.copying(n);
                act(connection.consume(n));
            }
            bytesRead += n;
            pump.leave();
            return queues.spent;
        }

        /** Called when nothing is to be sent for long. */
        void quiet() {
            act(connection.quiet());
            pump.poll();
        }

        long receiveMemory() {
            return connection.in().heldBytes();
        }

        long sendMemory() {
            return connection.sendMemory().capacity();
        }

        long bytesRead() {
            return bytesRead;
        }

        long bytesWritten() {
            return connection.out().written();
        }
    }

    /** Queues whose calls take time. */
    private final class CostedQueues extends SimQueues {
        private int spent;

        CostedQueues(SimMemory memory, SimQueuePair queuePair) {
            super(simulation, memory, queuePair);
        }

        @Override
        public boolean post() {
            spent += collected() == 0 ? 0 : LinkTable.crossing();
            return super.post();
        }

        @Override
        public int pollReceives() {
            int n = super.pollReceives();
            spent += n > 0 ? LinkTable.crossing() : LinkTable.emptyPoll();
            return n;
        }

        @Override
        public int pollSends() {
            int n = super.pollSends();
            spent += n > 0 ? LinkTable.crossing() : LinkTable.emptyPoll();
            return n;
        }

        @Override
        public boolean postReceives(int count) {
            spent += LinkTable.crossing();
            return super.postReceives(count);
        }
    }
}
