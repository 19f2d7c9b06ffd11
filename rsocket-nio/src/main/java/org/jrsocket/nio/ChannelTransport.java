/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import org.jrsocket.connect.OutgoingConnection;
import org.jrsocket.connect.TcpConnection;
import org.jrsocket.stream.RdmaStream;

/**
 * The transport of a socket channel: which it is, and what the channel needs for it. Until that is decided, and over
 * TCP, an inner channel of the JDK's does everything.
 *
 * <pre>
 *              connect: RDMA is not tried
 *   UNDECIDED ------------------------------------------> TCP : the inner channel says whether it is connected
 *       | \------ connect: RDMA ------> PENDING ----------^
 *       |                                  \-- finishConnect --> RDMA : a stream; the inner channel keeps options and
 *       port \---- accepted: TCP or RDMA at once                       close leads from each to CLOSED
 * </pre>
 *
 * Safe for use by many threads. Its monitor is the channel's state lock: no call that waits is made while it is held.
 */
final class ChannelTransport {

    enum State {
        UNDECIDED,
        PENDING,
        TCP,
        RDMA,
        CLOSED;

        private boolean follows(State before) {
            return switch (this) {
                case UNDECIDED -> false;
                case PENDING -> before == UNDECIDED;
                case TCP, RDMA -> before == UNDECIDED || before == PENDING;
                case CLOSED -> before != CLOSED;
            };
        }
    }

    private final ChannelOptions options;
    private final ChannelKeys keys = new ChannelKeys();

    private volatile State state = State.UNDECIDED; // written by to(), with this monitor held, as are the next four
    private volatile OutgoingConnection pending; // while PENDING
    private volatile RdmaStream stream;
    private volatile RdmaIo rdma;
    private volatile SocketAddress remote; // set once RDMA is tried, as the application gave it; never cleared
    private volatile TcpConnection recorded; // null unless the connection uses TCP and events are recorded

    ChannelTransport(ChannelOptions options) {
        this.options = options;
    }

    // ---- what it is ----

    State state() {
        return state;
    }

    /** Returns the connect that is under way, or null. */
    OutgoingConnection pending() {
        return pending;
    }

    /** Returns the stream, or null unless connected over RDMA; kept after a close, as are the next two. */
    RdmaStream stream() {
        return stream;
    }

    RdmaIo rdma() {
        return rdma;
    }

    /** Returns the remote address, or null if RDMA was not tried. */
    SocketAddress remote() {
        return remote;
    }

    ChannelKeys keys() {
        return keys;
    }

    ChannelOptions options() {
        return options;
    }

    SocketChannel tcp() {
        return options.tcp();
    }

    boolean isConnected() {
        return switch (state) {
            case RDMA -> true;
            case UNDECIDED, TCP -> tcp().isConnected();
            default -> false;
        };
    }

    boolean isConnectionPending() {
        return switch (state) {
            case PENDING -> true;
            case UNDECIDED -> tcp().isConnectionPending();
            default -> false;
        };
    }

    /** Throws if no inner channel can report the close: a closed channel that was accepted over RDMA has none. */
    void ensureInner() throws ClosedChannelException {
        if (!options.hasTcp()) {
            throw new ClosedChannelException();
        }
    }

    // ---- what becomes of it ----

    /** Changes the state. Called with this monitor held. */
    private void to(State next) {
        assert Thread.holdsLock(this);
        assert next.follows(state) : state + " to " + next;
        state = next;
    }

    /** Begins to connect over RDMA. */
    synchronized void begin(OutgoingConnection connection) throws ClosedChannelException {
        if (state == State.CLOSED) {
            connection.cancel();
            throw new ClosedChannelException();
        }
        to(State.PENDING);
        pending = connection;
        remote = connection.remote();
    }

    /** Leaves the connection to the inner channel. Has no effect when repeated, or after a close. */
    synchronized void becomeTcp() {
        if (state != State.CLOSED && state != State.TCP) {
            pending = null;
            to(State.TCP);
        }
    }

    /** Sets what {@link #closeTcp} is to report as closed; null for nothing. */
    void record(TcpConnection connection) {
        recorded = connection;
    }

    /** Makes an accepted stream the connection. */
    synchronized void accepted(RdmaStream connected) {
        remote = connected.remoteAddress();
        attach(connected);
    }

    /** Makes a stream the connection, unless the channel was closed since it began to connect; then returns false. */
    synchronized boolean connected(OutgoingConnection by, RdmaStream connected) {
        if (state != State.PENDING || pending != by) {
            return false;
        }
        attach(connected);
        keys.refresh();
        return true;
    }

    /** Called with this monitor held. */
    private void attach(RdmaStream connected) {
        RdmaIo made;
        try {
            made = new RdmaIo(connected);
        } catch (Error e) { // lack of memory: nothing would own the stream
            connected.abort();
            throw e;
        }
        stream = connected;
        rdma = made;
        pending = null;
        to(State.RDMA);
        options.apply(connected);
        connected.observe(keys.progress()::run);
        for (RSelectionKey key : keys.all()) {
            key.watch(connected);
        }
    }

    /** Records that RDMA has an outcome, and starts TCP if that is needed. */
    synchronized void decided(OutgoingConnection by) {
        if (state != State.PENDING || pending != by) {
            by.discard();
        } else {
            startTcpIfDue(by);
        }
        notifyAll();
    }

    /** Starts TCP if RDMA has failed. A blocking inner channel is left to the thread that finishes the connect. */
    synchronized void startTcpIfDue(OutgoingConnection by) {
        if (by.needsTcp() && !tcp().isBlocking()) {
            by.startTcp();
        }
    }

    /** Waits until RDMA has an outcome, or the channel is closed. An interrupt is to close it; the status is kept. */
    void awaitDecision(OutgoingConnection by) {
        boolean interrupted = false;
        synchronized (this) {
            while (!by.isDecided() && state == State.PENDING) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Changes the mode of the inner channel while a connect is pending. No thread waits in the inner channel then, and
     * the thread that decides on the connect must not find the mode changing.
     *
     * @return false if no connect is pending
     */
    synchronized boolean configurePending(boolean block) throws IOException {
        OutgoingConnection current = pending;
        if (current == null) {
            return false;
        }
        tcp().configureBlocking(block);
        startTcpIfDue(current);
        return true;
    }

    /** Ends it, and returns the connect that was under way, or null. */
    synchronized OutgoingConnection close() {
        to(State.CLOSED);
        OutgoingConnection last = pending;
        pending = null;
        notifyAll();
        return last;
    }

    /** Closes the inner channel, and reports the end of a connection that was recorded. */
    void closeTcp() throws IOException {
        options.close();
        TcpConnection.closed(recorded);
    }

    // ---- for selectors ----

    synchronized void join(RSelectionKey key) {
        keys.add(key);
        if (state == State.RDMA) {
            key.watch(stream);
        } else if (state != State.CLOSED) {
            key.watchTcp(tcp());
        }
    }

    synchronized void leave(RSelectionKey key) {
        // While a close still finds it here: after that the descriptor may have been reused.
        key.unwatch();
        keys.remove(key);
    }

    /** Returns the operations of {@code interest} for which the JDK's selector is to watch the inner channel. */
    int tcpInterest(int interest) {
        OutgoingConnection current = pending;
        return switch (state) {
            case UNDECIDED, TCP -> interest;
            case PENDING -> current != null && current.waitsForTcp() ? interest : 0;
            default -> 0;
        };
    }
}
