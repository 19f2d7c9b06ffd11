/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.ReentrantLock;
import org.jrsocket.connect.OutgoingConnection;
import org.jrsocket.connect.TcpConnection;
import org.jrsocket.stream.RdmaStream;

/**
 * A socket channel that becomes TCP or RDMA: which it is, and what it has for it. Until it is decided, and over TCP, a
 * channel of the JDK's inside does everything.
 *
 * <pre>
 *              connect: RDMA is not tried
 *   UNDECIDED ------------------------------------------> TCP : the inner channel says whether it is connected
 *       | \------ connect: RDMA ------> PENDING ----------^
 *       |                                  \-- finishConnect --> RDMA : a stream; the inner channel keeps options and
 *       port \---- accepted: TCP or RDMA at once                       close leads from each to CLOSED
 * </pre>
 *
 * Safe for use by many threads, as the JDK's: readers take turns, so do writers. Locks: read, write and state, as the
 * package has them.
 */
abstract class DualChannel extends SocketChannel implements RdmaSelectable {

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

    final RSelectorProvider provider;
    final ProtocolFamily family; // null for the JDK's default
    final ReentrantLock readLock = new ReentrantLock();
    final ReentrantLock writeLock = new ReentrantLock();
    final ChannelOptions options;

    final Object stateLock = new Object(); // nothing that waits is called with it
    volatile State state = State.UNDECIDED; // written by to(), under stateLock as all of these
    volatile OutgoingConnection connect; // while PENDING
    volatile RdmaStream stream;
    volatile RdmaIo io;
    volatile SocketAddress remote; // once RDMA is tried, as the application gave it; kept for good
    final ChannelKeys keys = new ChannelKeys();
    volatile TcpConnection recorded; // null unless TCP carries it and events are recorded

    /**
     * Not connected.
     *
     * @param tcp null for one that is about to {@link #attachStream} a stream
     */
    DualChannel(RSelectorProvider provider, SocketChannel tcp, ProtocolFamily family) {
        super(provider);
        this.provider = provider;
        this.family = family;
        this.options = new ChannelOptions(provider, tcp);
    }

    /** With stateLock, or before anybody else knows this channel. */
    final void to(State next) {
        assert Thread.holdsLock(stateLock) || state == State.UNDECIDED;
        assert next.follows(state) : state + " to " + next;
        state = next;
    }

    /** With stateLock, or before anybody else knows this channel. */
    void attachStream(RdmaStream connected) {
        RdmaIo made;
        try {
            made = new RdmaIo(connected);
        } catch (Error e) { // lack of memory: the stream would be nobody's
            connected.abort();
            throw e;
        }
        stream = connected;
        io = made;
        connect = null;
        to(State.RDMA);
        options.apply(connected);
        connected.observe(keys::progressed);
        for (RSelectionKey key : keys.all()) {
            key.selection().watch(key, connected);
        }
    }

    SocketChannel tcp() {
        return options.tcp();
    }

    // ---- the state, for those who go by it ----

    @Override
    public boolean isConnected() {
        return switch (state) {
            case RDMA -> true;
            case UNDECIDED, TCP -> tcp().isConnected();
            default -> false;
        };
    }

    @Override
    public boolean isConnectionPending() {
        return switch (state) {
            case PENDING -> true;
            case UNDECIDED -> tcp().isConnectionPending();
            default -> false;
        };
    }

    /** What was accepted over RDMA, and is closed, has no inner channel that would say so. */
    final void ensureInner() throws ClosedChannelException {
        if (!options.hasTcp()) {
            throw new ClosedChannelException();
        }
    }

    /** If the inner channel has closed itself. */
    void closeWithTcp() throws IOException {
        if (!tcp().isOpen()) {
            close();
        }
    }

    /** As the JDK, which closes a channel that blocks before it does or refuses anything for an interrupted thread. */
    final void heedInterrupt() throws AsynchronousCloseException {
        if (isBlocking()) {
            begin();
            end(isOpen());
        }
    }

    final RuntimeException refused(RuntimeException why) throws AsynchronousCloseException {
        heedInterrupt();
        return why;
    }

    void ensureOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }
}
