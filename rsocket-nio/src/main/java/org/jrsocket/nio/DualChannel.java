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
 * The state of a socket channel that becomes TCP or RDMA: which of them it is, and what it needs for that. Until that
 * is decided, and over TCP, an inner channel of the JDK's does everything.
 *
 * <pre>
 *              connect: RDMA is not tried
 *   UNDECIDED ------------------------------------------> TCP : the inner channel says whether it is connected
 *       | \------ connect: RDMA ------> PENDING ----------^
 *       |                                  \-- finishConnect --> RDMA : a stream; the inner channel keeps options and
 *       port \---- accepted: TCP or RDMA at once                       close leads from each to CLOSED
 * </pre>
 *
 * Safe for use by many threads, like the JDK's: readers take turns, and so do writers. The locks are those for reading,
 * writing and the state that the package documentation describes.
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

    final Object stateLock = new Object(); // no call that waits is made while it is held
    volatile State state = State.UNDECIDED; // written by to(), with stateLock held, as are all of these
    volatile OutgoingConnection connect; // while PENDING
    volatile RdmaStream stream;
    volatile RdmaIo io;
    volatile SocketAddress remote; // set once RDMA is tried, as the application gave it; never cleared
    final ChannelKeys keys = new ChannelKeys();
    volatile TcpConnection recorded; // null unless the connection uses TCP and events are recorded

    /**
     * Creates an unconnected channel.
     *
     * @param tcp null for a channel that is about to {@link #attachStream} a stream
     */
    DualChannel(RSelectorProvider provider, SocketChannel tcp, ProtocolFamily family) {
        super(provider);
        this.provider = provider;
        this.family = family;
        this.options = new ChannelOptions(provider, tcp);
    }

    /** Changes the state. Called with stateLock held, or before any other thread knows this channel. */
    final void to(State next) {
        assert Thread.holdsLock(stateLock) || state == State.UNDECIDED;
        assert next.follows(state) : state + " to " + next;
        state = next;
    }

    /** Makes the channel use RDMA. Called with stateLock held, or before any other thread knows this channel. */
    void attachStream(RdmaStream connected) {
        RdmaIo made;
        try {
            made = new RdmaIo(connected);
        } catch (Error e) { // lack of memory: nothing would own the stream
            connected.abort();
            throw e;
        }
        stream = connected;
        io = made;
        connect = null;
        to(State.RDMA);
        options.apply(connected);
        connected.observe(keys.progress()::run);
        for (RSelectionKey key : keys.all()) {
            key.selection().watch(key, connected);
        }
    }

    SocketChannel tcp() {
        return options.tcp();
    }

    // ---- state ----

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

    /** Throws if no inner channel can report the close: a closed channel that was accepted over RDMA has none. */
    final void ensureInner() throws ClosedChannelException {
        if (!options.hasTcp()) {
            throw new ClosedChannelException();
        }
    }

    /** Closes this channel if the inner channel has closed itself. */
    void closeWithTcp() throws IOException {
        if (!tcp().isOpen()) {
            close();
        }
    }

    /** Closes a blocking channel of an interrupted thread, as the JDK does before it does or refuses anything. */
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
