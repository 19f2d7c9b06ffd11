/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Imm;

/**
 * An end that is librdmacm's rsocket, used by a program with one thread that writes and one that reads. Threads are in
 * calls only at times, and nothing happens outside of calls.
 */
final class CEnd extends End implements SimCompletions.Channel {

    private final CSocket socket;
    private final Writer writer;
    private final Reader reader;
    private final Closer closer;

    CEnd(World world, String name) {
        super(world, name);
        this.socket = new CSocket(simulation, memory, queuePair);
        this.writer = new Writer();
        this.reader = new Reader();
        this.closer = new Closer();
    }

    @Override
    ConnData make(End peer) {
        memory.reset(world.checked);
        done = false;
        writer.begin();
        reader.begin();
        closer.begin();
        return socket.make(peer.queuePair, this, world.checked);
    }

    @Override
    void connected(ConnData peer) {
        socket.connected(peer);
        if (simulation.tracing) {
            simulation.trace(name + ": " + plan);
        }
    }

    @Override
    void open() {
        writer.wake();
        reader.wake();
        if (plan.close == Plan.Close.EARLY || plan.close == Plan.Close.HARD) {
            closer.wakeAfter(plan.closeAt);
        }
    }

    @Override
    public void raised() {
        socket.armed = false;
        writer.arouse();
        reader.arouse();
        closer.arouse();
    }

    /** A thread of the program. While it waits in a call, each step is one pass through the library's loop. */
    private abstract class CThread extends Actor {
        private boolean asleep;
        boolean finished;

        CThread() {
            super(CEnd.this.simulation);
        }

        void begin() {
            enter(plan.pace);
            asleep = false;
            finished = false;
        }

        void arouse() {
            if (asleep) {
                asleep = false;
                wake();
            }
        }

        /** Returns whether what the call waits for is there. */
        abstract boolean test();

        /** Looks at the queue. Returns false if the wait is over; otherwise the thread sleeps, or comes again. */
        boolean waits() {
            socket.update();
            socket.poll();
            if (test()) {
                socket.update();
                return false;
            }
            if (!socket.armed) {
                socket.completions.arm();
                socket.armed = true;
                wake(); // and goes round again
            } else {
                socket.update();
                asleep = true;
            }
            return true;
        }

        @Override
        public String toString() {
            return finished ? "finished" : asleep ? "asleep" : "awake";
        }
    }

    private final class Writer extends CThread {
        private long left;
        private int inCall;
        private int transfer;
        private boolean blocking;

        @Override
        void begin() {
            super.begin();
            left = plan.bytes;
            inCall = 0;
        }

        @Override
        boolean test() {
            return socket.canSend() || !socket.isWritable();
        }

        @Override
        void step() {
            if (finished) {
                return;
            }
            if (closer.begun || left == 0) {
                finish();
                return;
            }
            if (inCall == 0) {
                inCall = (int) Math.min(left, simulation.chance.spread(1, plan.mostWrite));
                transfer = socket.firstTransfer();
                blocking = !simulation.chance.oneIn(4);
            }
            if (!socket.canSend()) {
                if (!blocking) {
                    socket.update();
                    socket.poll();
                    socket.update();
                    if (!test()) {
                        inCall = 0; // returns what was sent, or EAGAIN
                        wakeAfter(simulation.chance.below(1000));
                        return;
                    }
                } else if (waits()) {
                    return;
                }
                if (!socket.isWritable()) {
                    out.mayLose = true; // ECONNRESET
                    finish();
                    return;
                }
            }
            int n = socket.send(out, inCall > transfer ? transfer : inCall);
            transfer = inCall > transfer ? socket.nextTransfer(transfer) : transfer;
            inCall -= n;
            left -= n;
            wake();
        }

        private void finish() {
            finished = true;
            closer.wantEnd();
            heard();
        }
    }

    private final class Reader extends CThread {
        @Override
        boolean test() {
            return socket.hasData() || !socket.isReadable();
        }

        @Override
        void step() {
            if (finished) {
                return;
            }
            if (!closer.begun && !mayRead()) {
                return; // not in a call
            }
            if (!socket.hasData() && waits()) {
                return;
            }
            if (closer.begun || !socket.hasData()) {
                finished = true;
                peer().heard();
                if (!closer.begun) {
                    if (simulation.tracing) {
                        simulation.trace(name + " comes to the end of the stream");
                    }
                    in.end();
                }
                closer.wantEnd();
                return;
            }
            int n = socket.read(in, simulation.chance.spread(1, plan.mostRead));
            peer().heard();
            if (simulation.tracing) {
                simulation.trace(name + " reads " + n + " bytes, in all " + in.read());
            }
            wake();
        }
    }

    /**
     * The thread that shuts down and closes. It also shuts both directions down while the others use them, which ends
     * their waits.
     */
    private final class Closer extends CThread {
        private boolean begun; // the end of both directions
        private int code; // to be sent, -1 for nothing
        private boolean sent;
        private boolean inCall;
        private boolean halfDone;

        @Override
        void begin() {
            super.begin();
            begun = false;
            code = -1;
            sent = false;
            inCall = false;
            halfDone = false;
        }

        /** Called when one of the other threads has finished. */
        void wantEnd() {
            wake();
        }

        @Override
        boolean test() {
            return !socket.isConnected() || (sent || code < 0 ? socket.allSent() : socket.hasControlSlot());
        }

        @Override
        void step() {
            if (done) {
                return;
            }
            if (inCall) {
                go();
                return;
            }
            boolean early = plan.close == Plan.Close.EARLY || plan.close == Plan.Close.HARD;
            boolean wrote = plan.close == Plan.Close.AFTER_WRITING && writer.finished;
            boolean through = writer.finished && reader.finished;
            if (!begun && (early && simulation.now() >= plan.closeAt || wrote || through)) {
                begun = true;
                reader.wake();
                peer().heard();
                in.mayLose = true;
                shut(true);
            } else if (!begun && !halfDone && writer.finished && plan.shutsDown) {
                halfDone = true;
                shut(false);
            } else if (begun && writer.finished && reader.finished) {
                destroy();
            }
        }

        private void shut(boolean both) {
            if (simulation.tracing) {
                simulation.trace(name + (both ? " shuts both directions down" : " shuts its output down"));
            }
            out.finished = true;
            inCall = true;
            sent = false;
            code = -1;
            if (socket.isConnected()) {
                code = both || !socket.isReadable() ? Imm.CTRL_DISCONNECT : Imm.CTRL_SHUTDOWN;
                socket.close(both, true);
            }
            go();
        }

        private void go() {
            if (code >= 0 && !sent) {
                if (!socket.hasControlSlot() && socket.isConnected() && waits()) {
                    return;
                }
                if (socket.isConnected() && socket.hasControlSlot()) {
                    socket.control(code);
                } else {
                    out.mayLose = true; // the last update took the slot that it waited for, and C does not wait again
                }
                sent = true;
            }
            if (socket.isConnected() && waits()) {
                return;
            }
            if (socket.isDisconnected()) {
                // If the peer's SHUTDOWN came while it waited, its own requests may be flushed here: C loses what is
                // still on its way.
                out.mayLose |= !socket.allSent();
                queuePair.toError();
            }
            inCall = false;
            writer.arouse();
            reader.arouse();
            heard();
            wake();
        }

        private void destroy() {
            done = true;
            queuePair.toError();
            queuePair.destroy();
            socket.free();
            if (memory.registered() != 0) {
                throw simulation.failure(name + " leaves " + memory.registered() + " bytes registered");
            }
            world.tellDisconnected(CEnd.this, !out.mayLose);
        }
    }

    @Override
    void disconnected() {
        if (!done) {
            socket.gone();
        }
    }

    @Override
    void deviceFailed() {
        // It finds out when it looks.
    }

    @Override
    void heard() {
        if (plan.talksFirst) {
            reader.wake();
        }
    }

    @Override
    boolean isOver() {
        return !socket.isConnected();
    }

    @Override
    boolean readsNoMore() {
        return closer.begun || reader.finished;
    }

    @Override
    void probe() {
        // It is not switched on.
    }

    /** Returns whether this end may wait for ever: nothing wakes a thread of C whose peer has gone silently. */
    @Override
    boolean mayHang() {
        return world.isBroken();
    }

    @Override
    String describe() {
        return name + " (C): " + (done ? "done" : socket.toString()) + "; writer " + writer + " with " + writer.left
                + " left, reader " + reader + " after " + in.read() + ", closer " + closer
                + (closer.inCall ? " in a call" : "");
    }
}
