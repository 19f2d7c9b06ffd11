/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NotYetConnectedException;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jrsocket.nio.ChannelTransport.State;

/**
 * The reading, writing and half-closing of a socket channel: over RDMA with an {@link RdmaIo}, before that and over TCP
 * with the inner channel. Blocking calls end with the JDK's exceptions when another thread closes the channel or
 * interrupts the caller. Safe for use by many threads: readers take turns, and so do writers.
 */
final class ChannelIo {

    private final InterruptibleSocketChannel channel;
    private final ChannelTransport transport;
    private final ReentrantLock readLock = new ReentrantLock();
    private final ReentrantLock writeLock = new ReentrantLock();

    ChannelIo(InterruptibleSocketChannel channel, ChannelTransport transport) {
        this.channel = channel;
        this.transport = transport;
    }

    /** Waits until no thread reads, writes, binds or connects, and keeps others from it. */
    void lockBoth() {
        readLock.lock();
        writeLock.lock();
    }

    void unlockBoth() {
        writeLock.unlock();
        readLock.unlock();
    }

    /** Returns whether a thread reads, writes, binds or connects. */
    boolean isInUse() {
        return readLock.isLocked() || writeLock.isLocked();
    }

    /** Closes the channel if the inner channel has closed itself. */
    void closeWithTcp() throws IOException {
        if (!transport.tcp().isOpen()) {
            channel.close();
        }
    }

    /** Like {@link #rdma()}, but first waits, as the JDK does, for a blocking connect that holds the lock. */
    private RdmaIo rdma(ReentrantLock lock) throws IOException {
        State now = transport.state();
        if (now != State.UNDECIDED && now != State.PENDING) {
            return rdma();
        }
        lock.lock();
        try {
            if (transport.state() == State.PENDING) { // the inner channel may be connected already
                throw channel.refused(new NotYetConnectedException());
            }
            return rdma();
        } finally {
            lock.unlock();
        }
    }

    /** Returns the RDMA connection, or null if the inner channel is to be used. */
    private RdmaIo rdma() throws ClosedChannelException {
        RdmaIo current = transport.rdma();
        if (current == null) {
            if (transport.state() == State.PENDING) {
                throw new NotYetConnectedException();
            }
        } else {
            channel.ensureOpen();
        }
        return current;
    }

    int read(ByteBuffer target) throws IOException {
        Objects.requireNonNull(target);
        RdmaIo rdma = rdma(readLock);
        return (int) (rdma == null ? readTcp(target, null, 0, 0) : readRdma(rdma, target, null, 0, 0));
    }

    long read(ByteBuffer[] targets, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, targets.length);
        RdmaIo rdma = rdma(readLock);
        return rdma == null ? readTcp(null, targets, offset, length) : readRdma(rdma, null, targets, offset, length);
    }

    /**
     * Reads into {@code one}, or if that is null into {@code targets}; the same applies below. If the thread is
     * interrupted, the inner channel is closed, and this one with it. While JDK 17's Flight Recorder records reads and
     * writes, the exception need not be an {@link AsynchronousCloseException}.
     */
    private long readTcp(ByteBuffer one, ByteBuffer[] targets, int offset, int length) throws IOException {
        try {
            return one != null ? transport.tcp().read(one) : transport.tcp().read(targets, offset, length);
        } catch (ClosedChannelException e) {
            closeWithTcp();
            throw e;
        }
    }

    private long readRdma(RdmaIo rdma, ByteBuffer one, ByteBuffer[] targets, int offset, int length)
            throws IOException {
        readLock.lock();
        try {
            channel.ensureOpen();
            if (!channel.isBlocking()) {
                return one != null ? rdma.read(one) : rdma.read(targets, offset, length);
            }
            long n = 0;
            try {
                channel.beginBlocking();
                channel.ensureOpen();
                n = one != null ? rdma.readBlocking(one, 0) : rdma.readBlocking(targets, offset, length);
            } finally {
                // If the channel is closed, it reports that in place of any other exception.
                channel.endBlocking(n != 0);
            }
            return n;
        } catch (SocketException e) {
            throw channel.isOpen() ? e : new AsynchronousCloseException();
        } finally {
            readLock.unlock();
        }
    }

    /** Returns what to throw to a writer, including for a close by another thread. */
    IOException failure(SocketException e) {
        return channel.isOpen() ? transport.rdma().ofWriter(e) : new AsynchronousCloseException();
    }

    /**
     * Reads for the socket adaptor.
     *
     * @param nanos 0 waits for ever
     */
    int readWithTimeout(ByteBuffer target, long nanos) throws IOException {
        readLock.lock();
        try {
            channel.ensureOpen();
            if (!channel.isBlocking()) {
                throw new IllegalBlockingModeException();
            }
            long n = 0;
            boolean done = false;
            try {
                channel.beginBlocking();
                channel.ensureOpen();
                n = transport.rdma().readBlocking(target, nanos);
                done = true;
            } catch (SocketTimeoutException e) {
                done = channel.isOpen();
                throw e;
            } finally {
                channel.endBlocking(done);
            }
            return (int) n;
        } finally {
            readLock.unlock();
        }
    }

    /** Returns how many bytes can be read over RDMA at once. */
    int available() throws IOException {
        channel.ensureOpen();
        return transport.rdma().available();
    }

    int write(ByteBuffer source) throws IOException {
        Objects.requireNonNull(source);
        RdmaIo rdma = rdma(writeLock);
        return (int) (rdma == null ? writeTcp(source, null, 0, 0) : writeRdma(rdma, source, null, 0, 0));
    }

    long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, sources.length);
        RdmaIo rdma = rdma(writeLock);
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
            return one != null ? transport.tcp().write(one) : transport.tcp().write(sources, offset, length);
        } catch (ClosedChannelException e) {
            closeWithTcp();
            throw e;
        }
    }

    private long writeRdma(RdmaIo rdma, ByteBuffer one, ByteBuffer[] sources, int offset, int length)
            throws IOException {
        writeLock.lock();
        try {
            channel.ensureOpen();
            if (!channel.isBlocking()) {
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
                channel.beginBlocking();
                channel.ensureOpen();
                rdma.ensureOutputOpen();
                n = rdma.writeBlocking(one, sources, offset, length);
                done = n > 0 || channel.isOpen();
            } finally {
                channel.endBlocking(done);
            }
            return n;
        } catch (SocketException e) {
            IOException told = failure(e);
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
            channel.ensureOpen();
            transport.rdma().ensureOutputOpen();
            transport.rdma().probe();
        } catch (SocketException e) {
            throw failure(e);
        } finally {
            writeLock.unlock();
        }
    }

    /** Writes all bytes for the socket adaptor, or throws an exception. */
    void writeFully(ByteBuffer source) throws IOException {
        RdmaIo rdma = transport.rdma();
        writeLock.lock();
        try {
            channel.ensureOpen();
            if (!channel.isBlocking()) {
                throw new IllegalBlockingModeException();
            }
            try {
                channel.beginBlocking();
                channel.ensureOpen();
                if (rdma.isOutputShut()) {
                    throw new ClosedChannelException();
                }
                while (source.hasRemaining()) {
                    rdma.writeBlocking(source, null, 0, 0);
                }
            } catch (SocketException e) {
                throw failure(e);
            } finally {
                channel.endBlocking(!source.hasRemaining());
            }
        } finally {
            writeLock.unlock();
        }
    }

    // ---- half close ----

    void shutdownInput() throws IOException {
        RdmaIo rdma = rdma();
        if (rdma == null) {
            transport.tcp().shutdownInput();
        } else {
            rdma.shutdownInput();
            transport.keys().progressed();
        }
    }

    void shutdownOutput() throws IOException {
        RdmaIo rdma = rdma();
        if (rdma == null) {
            transport.tcp().shutdownOutput();
        } else {
            rdma.shutdownOutput();
            transport.keys().progressed();
        }
    }
}
