/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The part of a socket channel that reads, writes and half-closes: over RDMA with an {@link RdmaIo}, before that and
 * over TCP with the inner channel. Blocking calls end with the JDK's exceptions when another thread closes the channel
 * or interrupts the caller.
 */
abstract class DataChannel extends ConnectingChannel {

    DataChannel(RSelectorProvider provider, SocketChannel tcp, ProtocolFamily family) {
        super(provider, tcp, family);
    }

    /** Like {@link #io()}, but first waits, as the JDK does, for a blocking connect in progress: it holds the lock. */
    private RdmaIo io(ReentrantLock lock) throws IOException {
        if (state != State.UNDECIDED && state != State.PENDING) {
            return io();
        }
        lock.lock();
        try {
            if (state == State.PENDING) { // the inner channel may be connected already
                throw refused(new NotYetConnectedException());
            }
            return io();
        } finally {
            lock.unlock();
        }
    }

    /** Returns the RDMA connection, or null if the inner channel is to be used. */
    private RdmaIo io() throws ClosedChannelException {
        RdmaIo current = io;
        if (current == null) {
            if (state == State.PENDING) {
                throw new NotYetConnectedException();
            }
        } else {
            ensureOpen();
        }
        return current;
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        Objects.requireNonNull(target);
        RdmaIo rdma = io(readLock);
        return (int) (rdma == null ? readTcp(target, null, 0, 0) : readRdma(rdma, target, null, 0, 0));
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, targets.length);
        RdmaIo rdma = io(readLock);
        return rdma == null ? readTcp(null, targets, offset, length) : readRdma(rdma, null, targets, offset, length);
    }

    /**
     * Reads into {@code one}, or if that is null into {@code targets}; the same applies below. If the thread is
     * interrupted, the inner channel is closed, and this one with it. While JDK 17's Flight Recorder records reads and
     * writes, the exception need not be an {@link AsynchronousCloseException}.
     */
    private long readTcp(ByteBuffer one, ByteBuffer[] targets, int offset, int length) throws IOException {
        try {
            return one != null ? tcp().read(one) : tcp().read(targets, offset, length);
        } catch (ClosedChannelException e) {
            closeWithTcp();
            throw e;
        }
    }

    private long readRdma(RdmaIo rdma, ByteBuffer one, ByteBuffer[] targets, int offset, int length)
            throws IOException {
        readLock.lock();
        try {
            ensureOpen();
            if (!isBlocking()) {
                return one != null ? rdma.read(one) : rdma.read(targets, offset, length);
            }
            long n = 0;
            try {
                begin();
                ensureOpen();
                n = one != null ? rdma.readBlocking(one, 0) : rdma.readBlocking(targets, offset, length);
            } finally {
                end(n != 0); // if the channel is closed, it reports that in place of any other exception
            }
            return n;
        } catch (SocketException e) {
            throw isOpen() ? e : new AsynchronousCloseException();
        } finally {
            readLock.unlock();
        }
    }

    /** Returns what to throw to a writer, including for a close by another thread. */
    final IOException failure(RdmaIo rdma, SocketException e) {
        return isOpen() ? rdma.ofWriter(e) : new AsynchronousCloseException();
    }

    /**
     * Reads for the socket adaptor.
     *
     * @param nanos 0 waits for ever
     */
    int readWithTimeout(ByteBuffer target, long nanos) throws IOException {
        readLock.lock();
        try {
            ensureOpen();
            if (!isBlocking()) {
                throw new IllegalBlockingModeException();
            }
            long n = 0;
            boolean done = false;
            try {
                begin();
                ensureOpen();
                n = io.readBlocking(target, nanos);
                done = true;
            } catch (SocketTimeoutException e) {
                done = isOpen();
                throw e;
            } finally {
                end(done);
            }
            return (int) n;
        } finally {
            readLock.unlock();
        }
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        Objects.requireNonNull(source);
        RdmaIo rdma = io(writeLock);
        return (int) (rdma == null ? writeTcp(source, null, 0, 0) : writeRdma(rdma, source, null, 0, 0));
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, sources.length);
        RdmaIo rdma = io(writeLock);
        if (rdma == null) {
            return writeTcp(null, sources, offset, length);
        }
        if (!Repeated.isIn(sources, offset, length)) {
            return writeRdma(rdma, null, sources, offset, length);
        }
        ByteBuffer[] views = Repeated.views(sources, offset, length);
        long n = writeRdma(rdma, null, views, 0, length);
        Repeated.advance(sources, offset, views, n);
        return n;
    }

    /** Writes from {@code one}, or if that is null from {@code sources}; the same applies below. */
    private long writeTcp(ByteBuffer one, ByteBuffer[] sources, int offset, int length) throws IOException {
        try {
            return one != null ? tcp().write(one) : tcp().write(sources, offset, length);
        } catch (ClosedChannelException e) {
            closeWithTcp();
            throw e;
        }
    }

    private long writeRdma(RdmaIo rdma, ByteBuffer one, ByteBuffer[] sources, int offset, int length)
            throws IOException {
        writeLock.lock();
        try {
            ensureOpen();
            if (!isBlocking()) {
                // First, as in the JDK: a failed write counts as told of a reset, though the channel reports something
                // else.
                long n = one != null ? rdma.write(one) : rdma.write(sources, offset, length);
                if (n == 0) {
                    rdma.ensureOutputOpen();
                }
                return n;
            }
            boolean done = false;
            long n = 0;
            try {
                begin();
                ensureOpen();
                rdma.ensureOutputOpen();
                n = rdma.writeBlocking(one, sources, offset, length);
                done = n > 0 || isOpen();
            } finally {
                end(done);
            }
            return n;
        } catch (SocketException e) {
            IOException told = failure(rdma, e);
            rdma.ensureOutputOpen(); // it may have been shut while this write waited
            throw told;
        } finally {
            writeLock.unlock();
        }
    }

    /** Throws what writing a byte would throw, but sends nothing. */
    void probe() throws IOException {
        writeLock.lock();
        try {
            ensureOpen();
            io.ensureOutputOpen();
            io.probe();
        } catch (SocketException e) {
            throw failure(io, e);
        } finally {
            writeLock.unlock();
        }
    }

    /** Writes all bytes for the socket adaptor, or throws an exception. */
    void writeFully(ByteBuffer source) throws IOException {
        writeLock.lock();
        try {
            ensureOpen();
            if (!isBlocking()) {
                throw new IllegalBlockingModeException();
            }
            try {
                begin();
                ensureOpen();
                if (io.isOutputShut()) {
                    throw new ClosedChannelException();
                }
                while (source.hasRemaining()) {
                    io.writeBlocking(source, null, 0, 0);
                }
            } catch (SocketException e) {
                throw failure(io, e);
            } finally {
                end(!source.hasRemaining());
            }
        } finally {
            writeLock.unlock();
        }
    }

    // ---- half close ----

    @Override
    public SocketChannel shutdownInput() throws IOException {
        RdmaIo rdma = io();
        if (rdma == null) {
            tcp().shutdownInput();
        } else {
            rdma.shutdownInput();
            keys.progressed();
        }
        return this;
    }

    @Override
    public SocketChannel shutdownOutput() throws IOException {
        RdmaIo rdma = io();
        if (rdma == null) {
            tcp().shutdownOutput();
        } else {
            rdma.shutdownOutput();
            keys.progressed();
        }
        return this;
    }
}
