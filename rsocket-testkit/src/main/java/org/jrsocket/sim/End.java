/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import org.jrsocket.wire.ConnData;

/** One end of a simulated connection: a machine, a queue pair, a stream, an application. */
abstract class End {

    final Simulation simulation;
    final World world;
    final String name;
    final SimMemory memory;
    final SimQueuePair queuePair;
    /** What the application here writes, and what it reads. */
    Flow out;

    Flow in;
    final Plan plan = new Plan();
    boolean done;

    End(World world, String name) {
        this.world = world;
        this.simulation = world.simulation;
        this.name = name;
        this.memory = new SimMemory(simulation, name);
        this.queuePair = new SimQueuePair(simulation, world.link, memory, name);
    }

    /** A new connection begins: makes its memory, queues and receives. The peer's are made before or after. */
    abstract ConnData make(End peer);

    /** What the peer said of itself. From here on its messages may come. */
    abstract void connected(ConnData peer);

    /** The connection is established. */
    abstract void open();

    /** The connection manager says that the peer is gone. */
    abstract void disconnected();

    /** The device here has failed: the queue pair is in error already. */
    abstract void deviceFailed();

    /** The application here reads on, if it waits until the other end has read all or reads no more. */
    abstract void heard();

    /** For {@link Plan#talksFirst}: whether it is time to read. */
    boolean mayRead() {
        return !plan.talksFirst
                || out.read() == plan.bytes
                || peer().readsNoMore()
                || isOver()
                || out.mayLose
                || world.isBroken();
    }

    abstract boolean readsNoMore();

    /** Whether nothing can be written here any more, whoever's fault it is. */
    abstract boolean isOver();

    /** Asks the peer's device for a sign of life. */
    abstract void probe();

    /** Who waits for what, where a run stands still. */
    abstract String describe();

    /** Whether it is no mistake that this end never comes to its end. */
    boolean mayHang() {
        return false;
    }

    /** Whether this end keeps to the protocol. */
    boolean keepsRules() {
        return true;
    }

    End peer() {
        return world.ends[0] == this ? world.ends[1] : world.ends[0];
    }
}
