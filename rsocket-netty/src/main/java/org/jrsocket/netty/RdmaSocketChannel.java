/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEvent;
import io.netty.channel.IoRegistration;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.nio.NioIoEvent;
import io.netty.channel.nio.NioIoOps;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.SocketAddress;
import java.net.SocketException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.Executor;
import org.jrsocket.netty.MessageWriter.Taken;
import org.jrsocket.nio.ChannelAccess;
import org.jrsocket.stream.RdmaStream;

/**
 * A connection over RDMA, or over TCP where the peer or this host has no RDMA. It needs an event loop with
 * {@link RdmaIoHandler}.
 *
 * <p>A write is complete when the connection has taken its bytes, as with Netty's other transports. Over RDMA large
 * buffers of {@link RdmaByteBufAllocator} are then still being sent from where they lie: the channel releases them when
 * the peer's device has acknowledged them. So an application that keeps a buffer it has written must not change it.
 *
 * <p>It may cease to be an NIO channel: rely only on {@code SocketChannel}.
 */
@SuppressWarnings("deprecation") // Netty's own name for a handle
public final class RdmaSocketChannel extends NioSocketChannel {

    private final RdmaSocketChannelConfig config;
    private final RdmaMetrics metrics = RdmaMetrics.TOTAL;

    // Used only by the event loop, except that all are set before it has the channel, and another thread may close.
    private volatile RdmaStream stream; // once connected over RDMA
    private LentSends lent; // of stream
    private MessageWriter writer; // to stream

    /**
     * Whether a close has begun: the registration may be gone, and what is lent may belong to another thread. A missing
     * outbound buffer does not tell, because a half close takes it too.
     */
    private volatile boolean closing;

    private LendingHandle lending; // used only by the event loop

    /**
     * Creates an unconnected channel.
     *
     * @throws IllegalStateException as from {@link RdmaIoHandler#newFactory}
     */
    public RdmaSocketChannel() {
        this(Rdma.provider());
    }

    RdmaSocketChannel(SelectorProvider provider) {
        super(provider);
        config = newConfig();
    }

    /** Creates a channel for an accepted connection. */
    RdmaSocketChannel(Channel parent, SocketChannel accepted) {
        super(parent, accepted);
        config = newConfig();
        connected();
    }

    private RdmaSocketChannelConfig newConfig() {
        return new RdmaSocketChannelConfig(this, super.config(), javaChannel().socket(), this::clearReadPending);
    }

    @Override
    public RdmaSocketChannelConfig config() {
        return config;
    }

    /** Returns whether the connection uses RDMA; false before it is connected. */
    public boolean isRdma() {
        return stream != null;
    }

    @Override
    protected AbstractNioUnsafe newUnsafe() {
        return new RdmaUnsafe();
    }

    private final class RdmaUnsafe extends NioByteUnsafe {
        private final Runnable continueWriting = this::continueWriting;

        @Override
        public RecvByteBufAllocator.Handle recvBufAllocHandle() {
            RecvByteBufAllocator.Handle handle = super.recvBufAllocHandle();
            if (stream == null || !config.isLendReceives()) {
                return handle;
            }
            if (lending == null) {
                lending = new LendingHandle(handle, stream);
            }
            return lending;
        }

        void continueWriting() {
            if (outboundBuffer() == null || !isRegistered()) {
                return; // a forcible close leaves the buffer, and what is in it has to be failed
            }
            if (eventLoop().inEventLoop()) {
                flush0();
            } else { // the channel has moved in the meantime
                eventLoop().execute(continueWriting);
            }
        }

        /** Ends the interest in room to write that a half close may leave: after it there always is room. */
        @Override
        public void handle(IoRegistration registration, IoEvent event) {
            if (stream != null && ((NioIoEvent) event).ops().contains(NioIoOps.CONNECT)) {
                setInterest(SelectionKey.OP_CONNECT, false);
            }
            super.handle(registration, event);
            if (outboundBuffer() == null && !closing && isRegistered()) {
                neverWriteAgain();
            }
        }

        /** Has another thread do a close that lingers: it waits, which no event loop may. */
        @Override
        protected Executor prepareToClose() {
            closing = true;
            if (!isOpen() || lingerSeconds() <= 0) {
                return null;
            }
            try {
                doDeregister();
            } catch (Exception e) {
                return null; // then it waits here
            }
            return GlobalEventExecutor.INSTANCE;
        }
    }

    private int lingerSeconds() {
        try {
            return config.getSoLinger();
        } catch (RuntimeException e) {
            return -1; // closed in the meantime
        }
    }

    // ---- connecting, closing ----

    @Override
    protected boolean doConnect(SocketAddress remote, SocketAddress local) throws Exception {
        ChannelAccess.limitConnect(javaChannel(), config.getConnectTimeoutMillis());
        boolean done = super.doConnect(remote, local);
        if (done) {
            connected();
        }
        return done;
    }

    /** Also called for OP_CONNECT of a connected channel: see {@link #awaitAcknowledged}. */
    @Override
    protected void doFinishConnect() throws Exception {
        if (stream != null) {
            acknowledged();
        } else {
            super.doFinishConnect();
            connected();
        }
    }

    private void connected() {
        RdmaStream connected = ChannelAccess.streamOf(javaChannel());
        if (connected != null) {
            lent = new LentSends(connected, this::executeInLoop);
            writer = new MessageWriter(connected, lent, config, metrics);
            stream = connected;
        }
    }

    @Override
    protected void doRegister(ChannelPromise promise) {
        super.doRegister(Rdma.explaining(promise));
        promise.addListener(done -> awaitAcknowledged()); // it may come from another event loop
    }

    private void executeInLoop(Runnable task) {
        EventLoop loop = eventLoop();
        if (loop.inEventLoop()) {
            task.run();
        } else {
            loop.execute(task);
        }
    }

    @Override
    protected void doClose() throws Exception {
        closing = true;
        try {
            super.doClose();
        } finally {
            if (stream != null) {
                lent.close();
                writer.close();
            }
        }
    }

    // ---- reading ----

    @Override
    protected int doReadBytes(ByteBuf buffer) throws Exception {
        RdmaStream rdma = stream;
        if (rdma == null) {
            return super.doReadBytes(buffer);
        }
        try {
            return read(rdma, buffer);
        } catch (SocketException e) {
            if (!isOpen()) { // by the thread of a close that lingers
                return ofAClosedChannel();
            }
            if (ChannelAccess.tellReader(javaChannel(), e)) {
                return -1;
            }
            throw e;
        }
    }

    /** Returns the result of a read if the receiver of what was read before has closed the channel. */
    private int ofAClosedChannel() {
        // a lent piece may end where TCP's buffer would not
        return lending != null && unsafe().recvBufAllocHandle() == lending ? 0 : -1;
    }

    private int read(RdmaStream rdma, ByteBuf buffer) throws Exception {
        RecvByteBufAllocator.Handle handle = unsafe().recvBufAllocHandle();
        if (lending != null && lending.takeBorrowed(buffer)) {
            int n = buffer.readableBytes();
            // The piece has an end of its own: a short piece does not mean that there is no more.
            handle.attemptedBytesRead(rdma.isReadable() ? n : Math.max(n, handle.guess()));
            metrics.receivedLent(n);
            return n;
        }
        int room = buffer.writableBytes();
        handle.attemptedBytesRead(room);
        if (!isOpen()) {
            return ofAClosedChannel();
        }
        if (handle != lending) {
            return copy(rdma, buffer, room);
        }
        if (lending.there() == 0) {
            return lending.look();
        }
        int n = copy(rdma, buffer, Math.min(room, lending.there()));
        if (n > 0 && n < room && rdma.isReadable()) {
            handle.attemptedBytesRead(n);
        }
        return n;
    }

    private int copy(RdmaStream rdma, ByteBuf buffer, int most) throws Exception {
        if (buffer.nioBufferCount() != 1) {
            return copied(buffer.writeBytes(javaChannel(), most));
        }
        int n = copied(rdma.read(buffer.internalNioBuffer(buffer.writerIndex(), most)));
        if (n > 0) {
            buffer.writerIndex(buffer.writerIndex() + n);
        }
        return n;
    }

    private int copied(int n) {
        if (n > 0) {
            metrics.receivedCopied(n);
        }
        return n;
    }

    // ---- writing ----

    @Override
    protected void doWrite(ChannelOutboundBuffer out) throws Exception {
        if (stream == null) {
            super.doWrite(out);
            return;
        }
        lent.release();
        Taken taken = Taken.ALL;
        boolean told;
        try {
            for (int spins = config.getWriteSpinCount(); taken == Taken.ALL && !closing && !out.isEmpty(); spins--) {
                taken = spins > 0 ? writer.writeNext(out) : Taken.ENOUGH;
            }
        } catch (SocketException e) {
            throw ChannelAccess.failureOfWrite(javaChannel(), e);
        } finally {
            writer.uncork();
            told = awaitAcknowledged(); // a write that fails may lead to no more than a half close
        }
        if (taken == Taken.UNTIL_ACKNOWLEDGED && !told) {
            taken = Taken.ENOUGH; // the connection has just failed: the next try reports it
        }
        if (closing) { // by a listener that was told of a complete write
            if (unsafe().outboundBuffer() != null && !out.isEmpty()) {
                throw new ClosedChannelException(); // closed forcibly, and the rest has not been failed
            }
            return;
        }
        if (unsafe().outboundBuffer() == null) {
            neverWriteAgain(); // the same, with a half close
            return;
        }
        switch (taken) {
            case ALL, UNTIL_ACKNOWLEDGED -> clearOpWrite();
            case UNTIL_ROOM -> incompleteWrite(true);
            case ENOUGH -> {
                clearOpWrite();
                eventLoop().execute(((RdmaUnsafe) unsafe()).continueWriting);
            }
            default -> throw new AssertionError(taken);
        }
    }

    /** Ends writing, after a half close. */
    private void neverWriteAgain() {
        clearOpWrite();
        if (stream != null) {
            writer.close();
        }
    }

    // ---- what is lent comes back ----

    /**
     * Has the selector report when lent memory is acknowledged, even if nothing is read or written. A connected channel
     * has no other use for OP_CONNECT; unlike OP_WRITE, it leaves Netty free to write in the meantime.
     *
     * @return whether the selector will report it
     */
    private boolean awaitAcknowledged() {
        if (stream == null
                || closing
                || lent.isEmpty()
                || !isRegistered()
                || !registration().isValid()) {
            return false;
        }
        long offset = lent.awaited();
        stream.awaitAcknowledged(offset);
        boolean failed = stream.isAcknowledged() && stream.acknowledged() < offset;
        // After a failure nothing is reported: the rest comes back when the queue pair is gone.
        if (!failed) {
            setInterest(SelectionKey.OP_CONNECT, true);
        }
        return !failed;
    }

    /** Changes what the selector is to report, as Netty's own methods do, but without their garbage. */
    private void setInterest(int op, boolean on) {
        if (registration().isValid()) {
            SelectionKey key = selectionKey();
            int before = key.interestOps();
            int now = on ? before | op : before & ~op;
            if (now != before) {
                key.interestOps(now);
            }
        }
    }

    private void acknowledged() {
        lent.release();
        unsafe().forceFlush();
        awaitAcknowledged();
    }

    /** Returns the bytes that are registered with the device for this connection. For tests. */
    long registeredBytes() {
        return stream.registeredBytes();
    }

    /** Returns whether no buffer is retained. For tests. */
    boolean holdsNothing() {
        return stream == null || lent.isEmpty() && writer.isEmpty();
    }
}
