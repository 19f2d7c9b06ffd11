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

    /** Makes the memory, queues and receives of a new connection. The peer's are made before or after. */
    abstract ConnData make(End peer);

    /** Takes what the peer said of itself. From now on its messages may come. */
    abstract void connected(ConnData peer);

    /** Called when the connection is established. */
    abstract void open();

    /** Called when the connection manager reports that the peer is gone. */
    abstract void disconnected();

    /** Called when the device here has failed: the queue pair is in error already. */
    abstract void deviceFailed();

    /** Lets the application here read on, if it waits until the other end has read everything or reads no more. */
    abstract void heard();

    /** Returns whether it is time to read, for {@link Plan#talksFirst}. */
    boolean mayRead() {
        return !plan.talksFirst
                || out.read() == plan.bytes
                || peer().readsNoMore()
                || isOver()
                || out.mayLose
                || world.isBroken();
    }

    abstract boolean readsNoMore();

    /** Returns whether nothing can be written here any more, whichever end is the cause. */
    abstract boolean isOver();

    /** Asks the peer's device for a sign of life. */
    abstract void probe();

    /** Describes who waits for what, where a run stands still. */
    abstract String describe();

    /** Returns whether it is no mistake if this end never finishes. */
    boolean mayHang() {
        return false;
    }

    /** Returns whether this end keeps to the protocol. */
    boolean keepsRules() {
        return true;
    }

    End peer() {
        return world.ends[0] == this ? world.ends[1] : world.ends[0];
    }
}
