/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import org.jrsocket.protocol.Connection;
import org.jrsocket.protocol.Effects;
import org.jrsocket.protocol.Inbound;
import org.jrsocket.protocol.Outbound;
import org.jrsocket.protocol.Pump;
import org.jrsocket.protocol.SendLimits;
import org.jrsocket.protocol.SendMemory;
import org.jrsocket.protocol.Slab;
import org.jrsocket.wire.ConnData;

/**
 * An end that is the engine, driven as its drivers drive it: a writer and a reader that sleep when they have to wait,
 * and a watcher of the queues' channel. A sleeper is woken only by the effect that ends its wait, so a missing effect,
 * or a queue that was not armed, leaves it asleep.
 */
final class EngineEnd extends End implements SimCompletions.Channel {

    private static final int OVER = Effects.GONE | Effects.VIOLATION | Effects.FAILED;
    private static final int READER = Effects.READABLE | Effects.ENDED | Effects.RESET | OVER;
    private static final int WRITER = Effects.ACKNOWLEDGED | Effects.RESET | OVER;
    private static final int CLOSER = Effects.DRAINED | OVER;

    private static final int CLOSE_TIME = 100_000;

    final SimQueues queues;
    final SimSlabs slabs;
    final EngineWriter writer;
    final EngineReader reader;
    final Actor watcher;
    final Actor closer;
    private final Actor deadline; // of a close whose peer does not let it end
    private final Actor registrar;

    Connection connection;
    private Pump pump;
    private SimTable table;
    private Slab first;
    private Slab firstSend;
    private int tableEntries;
    private int credits;
    private int most;
    private int mostSend;
    private int slots;
    private int inline;

    private boolean opened;
    private boolean raised;
    private boolean leaving;
    private boolean resetUnderstood; // by the peer
    /** Whether the application has closed. */
    boolean closed;

    private boolean destroyed;
    boolean peerEnded;
    boolean gone;
    boolean wasReset;
    boolean failed;

    EngineEnd(World world, String name) {
        super(world, name);
        this.queues = world.mistakes.queues(this);
        this.slabs = new SimSlabs(simulation, memory);
        this.writer = new EngineWriter(this);
        this.reader = new EngineReader(this);
        this.watcher = new Actor(simulation) {
            @Override
            void step() {
                watch();
            }
        };
        this.closer = new Actor(simulation) {
            @Override
            void step() {
                close();
            }
        };
        this.registrar = new Actor(simulation) {
            @Override
            void step() {
                memoryCame();
            }
        };
        this.deadline = new Actor(simulation) {
            @Override
            void step() {
                if (!destroyed) {
                    queuePair.toError();
                    handle(pump.poll());
                }
            }
        };
    }

    // ---- making ----

    @Override
    ConnData make(End peer) {
        Chance chance = simulation.chance;
        boolean toC = world.kind == World.Kind.C;
        tableEntries = chance.spread(2, 20);
        credits = chance.spread(1, 60);
        int smallest = world.roomy ? chance.between(16_400, 20_000) : chance.spread(1, world.large ? 40_000 : 300);
        if (world.longLived) {
            smallest = chance.between(1, 3);
            credits += 8;
        }
        most = smallest * chance.spread(2, 32);
        slots = chance.spread(16, 80);
        inline = chance.of(0, 16, 64, SimQueuePair.MOST_INLINE);
        memory.reset(world.checked);
        slabs.reset(
                chance.of(0, 0, 2, 10),
                chance.oneIn(4) ? 2L * most : Long.MAX_VALUE,
                chance.oneIn(2) ? 0 : Math.min(4 * most, 100_000));
        int receives = credits + Inbound.SPARE_RECEIVES;
        queues.reset(slots, receives, chance.spread(2, 16), inline, chance.oneIn(2), this);
        queuePair.reset(peer.queuePair, slots, inline, queues.sends, queues.receives, false, !peer.keepsRules());
        queuePair.rules.reset(world.checked, false);
        table = new SimTable(memory, tableEntries);
        first = slabs.make(smallest);
        firstSend = slabs.make(chance.spread(1, world.large ? 20_000 : 300));
        mostSend = firstSend.length() * chance.spread(1, 32);
        queuePair.postReceives(receives);
        opened = false;
        raised = false;
        closed = false;
        destroyed = false;
        peerEnded = false;
        gone = false;
        wasReset = false;
        failed = false;
        done = false;
        watcher.enter(chance.spread(1, 200));
        closer.enter(plan.pace);
        deadline.enter(0);
        registrar.enter(plan.pace);
        slabs.delay(chance.of(0, 0, 1, 4), registrar);
        writer.begin();
        reader.begin();
        ConnData data = ConnData.local(
                credits,
                table.region.base,
                table.region.remoteKey(),
                tableEntries,
                first.address(),
                first.remoteKey(),
                first.length());
        int features =
                (chance.oneIn(4) ? 0 : ConnData.FEATURE_RESET) | (chance.oneIn(4) ? 0 : ConnData.FEATURE_RELEASE);
        return toC ? data : data.withFeatures(features);
    }

    @Override
    void connected(ConnData peer) {
        resetUnderstood = peer.hasFeature(ConnData.FEATURE_RESET);
        Chance chance = simulation.chance;
        int busy = chance.spread(2, 16);
        int mostMessage = chance.spread(1, world.large ? 1 << 20 : 4096);
        int bulk = world.longLived ? 1 : chance.spread(1, 2000);
        SendLimits limits = new SendLimits(slots, 1, chance.between(1, 3), mostMessage, inline, busy, bulk);
        Outbound outbound = new Outbound(limits, peer, tableEntries, credits);
        Inbound inbound = new Inbound(peer, tableEntries, credits, first, most);
        connection = new Connection(inbound, outbound, new SendMemory(firstSend, mostSend), slabs, table);
        // all that can be there when the queues are armed
        pump = new Pump(connection, queues, credits + Inbound.SPARE_RECEIVES);
        if (simulation.tracing) {
            simulation.trace(name + ": table of " + tableEntries + ", " + credits + " credits, receive memory "
                    + first.length() + " to " + most + ", send memory " + firstSend.length() + " to " + mostSend + ", "
                    + limits);
            simulation.trace(name + ": " + plan);
        }
    }

    @Override
    void open() {
        opened = true;
        act(connection.open());
        handle(pump.poll()); // what has come since the receives were posted
        leave();
        writer.wake();
        reader.wake();
        if (plan.close == Plan.Close.EARLY || plan.close == Plan.Close.HARD) {
            closer.wakeAfter(plan.closeAt);
        }
    }

    // ---- driving ----

    /** Handles effects, and first sends if there is now something to send. */
    void act(int effects) {
        if (Effects.has(effects, Effects.SEND)) {
            flush();
        }
        handle(effects);
    }

    void flush() {
        handle(pump.flush());
    }

    boolean mayWriteNow(int n) {
        return simulation.chance.oneIn(2) && pump.mayWriteNow(n);
    }

    boolean isInline(int n) {
        return pump.isInline(n);
    }

    void writeInline(long address, int n) {
        handle(pump.writeInline(address, n));
    }

    void writeCopied(int n) {
        handle(pump.writeCopied(n));
    }

    /** Called before a program's call returns. */
    void leave() {
        leaving = true;
        int effects = pump.leave();
        leaving = false;
        handle(effects);
    }

    boolean isLeaving() {
        return leaving;
    }

    /**
     * Takes a sleeper's last look before it sleeps.
     *
     * @param sends whether it waits for completions of sends, too
     */
    void armAndPoll(boolean sends) {
        handle(pump.arm(sends));
        leave();
    }

    /** Called for a device's event: the watcher of the channel comes at some time. */
    @Override
    public void raised() {
        raised = true;
        if (opened) {
            watcher.wake();
        }
    }

    private void watch() {
        if (destroyed || !raised) {
            return;
        }
        raised = false;
        handle(pump.poll());
        leave();
        if (writer.isAsleep() || reader.isAsleep() || closed) {
            armAndPoll(writer.isAsleep() || closed);
        }
        if (plan.quietOneIn > 0 && simulation.chance.oneIn(plan.quietOneIn)) {
            quiet();
        }
    }

    private void memoryCame() {
        if (!destroyed) {
            slabs.came(true);
            int effects = connection.memoryCame();
            slabs.came(false);
            act(effects);
            leave();
        }
    }

    private void quiet() {
        world.tally.quietTimes++;
        if (simulation.tracing) {
            simulation.trace(name + " is quiet");
        }
        boolean acknowledged =
                connection.out().acknowledged() == connection.out().written();
        act(connection.quiet()); // after which more may be acknowledged
        if (!isOver()
                && acknowledged
                && !writer.isCopying()
                && connection.sendMemory().capacity() > firstSend.length()) {
            throw simulation.failure(
                    name + " is quiet and keeps " + connection.sendMemory().capacity() + " bytes of send memory");
        }
        leave();
    }

    private void handle(int effects) {
        if (effects == Effects.NONE) {
            return;
        }
        peerEnded |= Effects.has(effects, Effects.ENDED);
        gone |= Effects.has(effects, Effects.GONE);
        wasReset |= Effects.has(effects, Effects.RESET);
        if (Effects.has(effects, Effects.VIOLATION)) {
            world.tally.violations++;
            if (peer().keepsRules()) {
                throw simulation.failure(name + " finds that its peer broke the protocol: " + connection.violation());
            }
        }
        if (Effects.has(effects, Effects.FAILED) && !failed) {
            failed = true;
            if (queuePair.works() && peer().keepsRules()) {
                throw simulation.failure(name + " fails, and its queue pair works: " + queues.trouble());
            }
            if (simulation.tracing) {
                simulation.trace(name + " has failed: " + queues.trouble());
            }
            queuePair.toError();
        }
        if (closed && Effects.has(effects, Effects.READABLE) && !destroyed) {
            tellReset(); // as with TCP: no one will read what comes after a close
        }
        if (Effects.has(effects, READER)) {
            reader.arouse();
            heard();
        }
        if (Effects.has(effects, WRITER)) {
            writer.arouse();
        }
        if (closed && Effects.has(effects, CLOSER)) {
            closer.wake();
        }
        checkMemory();
    }

    private void checkMemory() {
        long held = connection.in().heldBytes();
        if (held > most) {
            throw simulation.failure(name + " holds " + held + " bytes of receive memory, which may be " + most);
        }
        if (!isOver() && slabs.obtained() != held + connection.sendMemory().capacity()) {
            throw simulation.failure(name + " has slabs of " + slabs.obtained() + " bytes, and uses " + held
                    + " to receive and " + connection.sendMemory().capacity() + " to send");
        }
    }

    private void tellReset() {
        out.mayLose = true;
        connection.out().close(false, true);
        flush();
    }

    @Override
    boolean isOver() {
        return closed || gone || wasReset || failed;
    }

    // ---- the end ----

    /** Called when the application has finished with the stream. */
    void wantClose() {
        closer.wake();
    }

    private void close() {
        if (destroyed) {
            return;
        }
        if (!closed) {
            closed = true;
            boolean hard = plan.close == Plan.Close.HARD;
            boolean tell = hard || connection.in().readable() > 0;
            if (simulation.tracing) {
                simulation.trace(name + " closes" + (hard ? " hard" : tell ? " with unread bytes" : ""));
            }
            in.mayLose = true;
            peer().heard();
            out.mayLose |= tell;
            out.mustReset = tell && !out.finished && !gone && !failed && resetUnderstood;
            out.finished = true;
            connection.out().close(hard, tell);
            flush();
            if (!peer().keepsRules()) {
                deadline.wakeAfter(CLOSE_TIME);
            }
            reader.arouse();
            writer.arouse();
        }
        if (!connection.out().isDrained()) {
            armAndPoll(true);
        }
        if (connection.out().isDrained()) {
            destroy();
        }
    }

    private void destroy() {
        destroyed = true;
        queuePair.toError();
        queuePair.destroy();
        world.tellDisconnected(this, !failed);
        writer.abandon();
        tryFree();
    }

    /** Frees the memory, if the queue pair is gone and the application has given back what it borrowed. */
    void tryFree() {
        if (destroyed && !done && reader.borrowed() == 0) {
            done = true;
            slabs.freeAll();
            queues.free();
            memory.deregister(table.region);
            if (memory.registered() != 0) {
                throw simulation.failure(name + " leaves " + memory.registered() + " bytes registered");
            }
        }
    }

    boolean isDestroyed() {
        return destroyed;
    }

    @Override
    void disconnected() {
        if (!destroyed) {
            handle(pump.poll());
            queuePair.toError();
            handle(pump.poll());
        }
    }

    @Override
    void deviceFailed() {
        if (!destroyed && opened) {
            handle(pump.poll());
        }
    }

    @Override
    void heard() {
        if (plan.talksFirst && opened) {
            reader.wake();
        }
    }

    @Override
    boolean readsNoMore() {
        return closed || reader.isFinished();
    }

    @Override
    void probe() {
        if (!destroyed) {
            connection.out().probe();
            flush();
            armAndPoll(true);
        }
    }

    @Override
    String describe() {
        Outbound sends = connection.out();
        String life = (done ? "done" : closed ? "closed" : "open")
                + (gone ? ", peer gone" : peerEnded ? ", peer ended" : "")
                + (failed ? ", failed" : "");
        String waits = (sends.waitsForCompletion() ? ", waits for completion" : "")
                + (sends.waitsForPeer() ? ", waits for peer" : "");
        return name + ": " + life + "; writer " + writer + ", reader " + reader + "; written " + sends.written()
                + ", posted " + sends.posted() + ", acknowledged " + sends.acknowledged() + ", peer's room "
                + sends.peerRoom() + ", readable " + connection.in().readable() + waits + ", send queue "
                + describe(queues.sends) + ", receive queue " + describe(queues.receives);
    }

    private static String describe(SimCompletions queue) {
        return (queue.isArmed() ? "armed" : "unarmed") + " with " + queue.size();
    }
}
