/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.FileRegion;
import io.netty.channel.IoEvent;
import io.netty.channel.IoRegistration;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.nio.NioIoOps;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.Executor;
import org.jrsocket.nio.RSelectorProvider;
import org.jrsocket.stream.BorrowedBytes;
import org.jrsocket.stream.LentMemory;
import org.jrsocket.stream.RdmaStream;

/**
 * A connection over RDMA, or over TCP where the peer or this host has no RDMA. It needs an event loop with
 * {@link RdmaIoHandler}.
 *
 * <p>A write is complete when the connection has taken its bytes, as with Netty's other transports. Over RDMA large
 * buffers of {@link RdmaByteBufAllocator} are then still being sent from where they lie: the channel releases them when
 * the peer's device has acknowledged them. So an application that keeps a buffer it has written must not change it.
 *
 * <p>That it is an NIO channel may change: rely on {@code SocketChannel} alone.
 */
@SuppressWarnings({"deprecation", "ReferenceEquality"}) // Netty's own name of a handle; which buffer, not what is in it
public final class RdmaSocketChannel extends NioSocketChannel {

    /** Small messages that go out together: so many, and bytes. */
    private static final int MOST_MESSAGES = 1024;

    private static final int MOST_TOGETHER = 256 * 1024;
    /** What is read of a file at once. */
    private static final int FILE_PIECE = 256 * 1024;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final RdmaSocketChannelConfig config;
    private final RdmaMetrics metrics = RdmaMetrics.TOTAL;

    // The event loop's, except that both are set before it has the channel, and that a close may be another's.
    private volatile RdmaStream stream; // once connected over RDMA
    private LentSends lent; // of stream

    /**
     * Whether a close has begun: there may be no registration any more, and what is lent may be another thread's. That
     * there is no outbound buffer does not tell, for a half close takes it too.
     */
    private volatile boolean closing;

    // The event loop's.
    private final SmallMessages small = new SmallMessages();
    private LendingHandle lending;
    private ByteBuf borrowed; // allocated with its bytes, to be read next
    private FileReader file;

    /**
     * Not connected.
     *
     * @throws IllegalStateException as {@link RdmaIoHandler#newFactory}
     */
    public RdmaSocketChannel() {
        this(Rdma.provider());
    }

    RdmaSocketChannel(SelectorProvider provider) {
        super(provider);
        config = newConfig();
    }

    /** Accepted. */
    RdmaSocketChannel(RdmaServerSocketChannel parent, SocketChannel accepted) {
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

    /** Whether RDMA carries it; false before it is connected. */
    public boolean isRdma() {
        return stream != null;
    }

    @Override
    protected AbstractNioUnsafe newUnsafe() {
        return new RdmaUnsafe();
    }

    private final class RdmaUnsafe extends NioByteUnsafe {
        @Override
        public RecvByteBufAllocator.Handle recvBufAllocHandle() {
            RecvByteBufAllocator.Handle handle = super.recvBufAllocHandle();
            if (stream == null || !config.isLendReceives()) {
                return handle;
            }
            if (lending == null) {
                lending = new LendingHandle(handle);
            }
            return lending;
        }

        void continueWriting() {
            if (!closing) {
                flush0();
            }
        }

        /** A half close may leave an interest in room, and that there always is then. */
        @Override
        public void handle(IoRegistration registration, IoEvent event) {
            super.handle(registration, event);
            if (outboundBuffer() == null && !closing && isRegistered()) {
                neverWriteAgain();
            }
        }

        /** A close that lingers waits, which no event loop may. */
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
            return -1; // closed meanwhile
        }
    }

    // ---- connecting, closing ----

    @Override
    protected boolean doConnect(SocketAddress remote, SocketAddress local) throws Exception {
        boolean done = super.doConnect(remote, local);
        if (done) {
            connected();
        }
        return done;
    }

    /** Also what a connected channel's OP_CONNECT comes to: see {@link #awaitAcknowledged}. */
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
        RdmaStream connected = RSelectorProvider.streamOf(javaChannel());
        if (connected != null) {
            lent = new LentSends(connected, this::executeInLoop);
            stream = connected;
        }
    }

    @Override
    protected void doRegister(ChannelPromise promise) {
        super.doRegister(promise);
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
            }
            if (file != null) {
                file.close();
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
        RecvByteBufAllocator.Handle handle = unsafe().recvBufAllocHandle();
        if (buffer == borrowed) {
            borrowed = null;
            int n = buffer.readableBytes();
            // The piece had an end: that it is short does not say that there is no more.
            handle.attemptedBytesRead(rdma.isReadable() ? n : Math.max(n, handle.guess()));
            metrics.receivedLent(n);
            return n;
        }
        int room = buffer.writableBytes();
        handle.attemptedBytesRead(room);
        if (!isOpen()) {
            return 0; // closed by who was given what was read before
        }
        if (handle != lending) {
            return copy(rdma, buffer, room);
        }
        if (lending.there == 0) {
            return lending.look();
        }
        int n = copy(rdma, buffer, Math.min(room, lending.there));
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

    /** Hands out received bytes themselves where that is possible. */
    private final class LendingHandle extends RecvByteBufAllocator.DelegatingHandle {
        private final ByteBuffer first = ByteBuffer.allocate(1);
        private int there; // what is to be copied if nothing is lent: what comes later can be lent in its turn

        LendingHandle(RecvByteBufAllocator.Handle delegate) {
            super(delegate);
        }

        @Override
        public ByteBuf allocate(ByteBufAllocator allocator) {
            BorrowedBytes bytes = null;
            there = 0;
            try {
                bytes = stream.borrow(guess());
                if (bytes == null) {
                    there = stream.available();
                    bytes = there > 0 ? stream.borrow(guess()) : null; // it may have come since
                }
            } catch (IOException e) {
                // the read that follows gets it too
            }
            if (bytes == null) {
                return super.allocate(allocator);
            }
            borrowed = RdmaByteBufAllocator.leakAware(new LentByteBuf(allocator, bytes));
            return borrowed;
        }

        /** For a read that found nothing: 0, or -1 at the end. */
        int look() throws IOException {
            return Math.min(0, stream.peek(first.clear()));
        }
    }

    // ---- writing ----

    @Override
    protected void doWrite(ChannelOutboundBuffer out) throws Exception {
        RdmaStream rdma = stream;
        if (rdma == null) {
            super.doWrite(out);
            return;
        }
        lent.release();
        Taken taken = Taken.ALL;
        boolean told;
        try {
            for (int spins = config.getWriteSpinCount(); taken == Taken.ALL && !closing && !out.isEmpty(); spins--) {
                taken = spins > 0 ? writeNext(rdma, out) : Taken.ENOUGH;
            }
        } finally {
            told = awaitAcknowledged(); // a write that fails may come to no more than a half close
        }
        if (taken == Taken.UNTIL_ACKNOWLEDGED && !told) {
            taken = Taken.ENOUGH; // the connection has just failed: the next try hears of it
        }
        if (closing) {
            return; // by somebody who was told of a write that was complete
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
                eventLoop().execute(((RdmaUnsafe) unsafe())::continueWriting);
            }
            default -> throw new AssertionError(taken);
        }
    }

    /** After a half close. */
    private void neverWriteAgain() {
        clearOpWrite();
        if (file != null) {
            file.close();
        }
    }

    /** What came of a write, and when to go on. */
    private enum Taken {
        ALL,
        /** The send memory is full. */
        UNTIL_ROOM,
        /** As much is lent as may be. */
        UNTIL_ACKNOWLEDGED,
        /** Others of the event loop are to have their turn. */
        ENOUGH
    }

    private Taken writeNext(RdmaStream rdma, ChannelOutboundBuffer out) throws Exception {
        Object message = out.current();
        if (message instanceof FileRegion region) {
            return writeFile(rdma, out, region);
        }
        ByteBuf buffer = (ByteBuf) message; // by filterOutboundMessage
        if (!buffer.isReadable()) {
            out.remove();
            return Taken.ALL;
        }
        if (buffer.readableBytes() < config.getLendSendsFrom()) {
            return writeSmall(rdma, out);
        }
        int before = buffer.readableBytes();
        Taken taken = writeLarge(rdma, buffer);
        out.progress(before - buffer.readableBytes());
        if (taken == Taken.ALL) {
            out.remove();
        }
        return taken;
    }

    /** Copies the small messages at the front, together. */
    private Taken writeSmall(RdmaStream rdma, ChannelOutboundBuffer out) throws Exception {
        ByteBuffer[] pieces = out.nioBuffers(MOST_MESSAGES, small.count(out));
        long bytes = out.nioBufferSize();
        long n = rdma.write(pieces, 0, out.nioBufferCount());
        metrics.sentCopied(n);
        out.removeBytes(n);
        return n < bytes ? Taken.UNTIL_ROOM : Taken.ALL;
    }

    /** How many bytes the messages at the front have that are copied, up to the first that is not. */
    private final class SmallMessages implements ChannelOutboundBuffer.MessageProcessor {
        private long bytes;
        private int from;

        long count(ChannelOutboundBuffer out) throws Exception {
            bytes = 0;
            from = config.getLendSendsFrom();
            out.forEachFlushedMessage(this);
            return bytes;
        }

        @Override
        public boolean processMessage(Object message) {
            if (!(message instanceof ByteBuf buffer) || buffer.readableBytes() >= from) {
                return false;
            }
            bytes += buffer.readableBytes();
            return bytes < MOST_TOGETHER;
        }
    }

    /** Writes what is possible of a buffer, and moves its reader index: lends its large pieces, copies the others. */
    private Taken writeLarge(RdmaStream rdma, ByteBuf buffer) throws IOException {
        int from = buffer.readerIndex();
        int length = buffer.readableBytes();
        ByteBuffer[] pieces = buffer.nioBufferCount() == 1
                ? new ByteBuffer[] {buffer.internalNioBuffer(from, length)}
                : buffer.nioBuffers(from, length);
        int i = 0;
        while (i < pieces.length) {
            LentMemory memory = registration(pieces[i]);
            if (memory != null) {
                if (lent.isFull()) {
                    rdma.write(NOTHING); // a connection that has failed acknowledges nothing any more: this throws then
                    return Taken.UNTIL_ACKNOWLEDGED;
                }
                int n = lent.send(memory, pieces[i], buffer);
                metrics.sentLent(n);
                buffer.skipBytes(n);
                i += pieces[i].hasRemaining() ? 0 : 1;
            } else {
                int end = i + 1;
                while (end < pieces.length && registration(pieces[end]) == null) {
                    end++;
                }
                int n = (int) rdma.write(pieces, i, end - i);
                metrics.sentCopied(n);
                buffer.skipBytes(n);
                while (i < end) {
                    if (pieces[i++].hasRemaining()) {
                        return Taken.UNTIL_ROOM;
                    }
                }
            }
        }
        return Taken.ALL;
    }

    private LentMemory registration(ByteBuffer piece) {
        return piece.isDirect() && piece.remaining() >= config.getLendSendsFrom() ? lent.registration(piece) : null;
    }

    /** Files are read into memory that is lent. */
    private Taken writeFile(RdmaStream rdma, ChannelOutboundBuffer out, FileRegion region) throws Exception {
        if (file == null) {
            file = new FileReader();
        }
        ByteBuf piece = file.next(region, FILE_PIECE);
        int before = piece.readableBytes();
        Taken taken = before == 0 ? Taken.ALL : writeLarge(rdma, piece);
        int n = before - piece.readableBytes();
        if (taken == Taken.ALL) {
            file.release(); // before anybody is told, who may close the channel, and that closes the file
        }
        out.progress(n);
        if (taken == Taken.ALL && region.transferred() >= region.count()) {
            out.remove();
        }
        return taken;
    }

    // ---- what is lent comes back ----

    /**
     * If anything is lent, lets the selector say when it is acknowledged, though nobody reads or writes. A connected
     * channel has no other use for OP_CONNECT; unlike OP_WRITE it leaves Netty free to write meanwhile.
     *
     * @return whether it will say so
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
        // After a failure nothing comes: the rest comes back when the stream is freed.
        if (!failed) {
            addAndSubmit(NioIoOps.CONNECT);
        }
        return !failed;
    }

    private void acknowledged() {
        lent.release();
        unsafe().forceFlush();
        awaitAcknowledged();
    }

    /** For tests: bytes that are registered with the device for this connection. */
    long registeredBytes() {
        return stream.registeredBytes();
    }

    /** For tests: whether no buffer is retained. */
    boolean holdsNothing() {
        return stream == null || lent.isEmpty() && (file == null || file.isEmpty());
    }
}
