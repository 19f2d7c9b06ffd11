/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * One end of a {@link SoakConversation}. Sends as fast as the channel takes it, stops reading now and then, and keeps
 * some of what it has read for a while: only when it gives it back it compares it.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails shows in what arrives
final class SoakEnd extends ChannelInboundHandlerAdapter {

    private static final ByteBufAllocator OURS = RdmaByteBufAllocator.DEFAULT;
    /** An idle connection has that much for its peer. */
    private static final int GRANTED = 8 * 1024;
    /** Writes of one turn. */
    private static final int TURN = 8;

    private final Soak soak;
    private final boolean client;
    private SoakConversation conversation; // the server's end learns it from the first bytes
    private final ByteBuf head = Unpooled.buffer(Long.BYTES);
    private Random random;
    private SoakConversation.Direction out;
    private SoakConversation.Direction in;
    private long cut; // where it leaves
    private boolean outputShut;
    private boolean inputEnded;

    /** @param conversation the client's; null for a server's end */
    SoakEnd(Soak soak, SoakConversation conversation) {
        this.soak = soak;
        this.client = conversation != null;
        this.conversation = conversation;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        if (client) {
            context.write(OURS.directBuffer(Long.BYTES).writeLong(conversation.id()));
            join(context);
        }
    }

    private void join(ChannelHandlerContext context) {
        random = conversation.random(client);
        out = conversation.out(client);
        in = conversation.in(client);
        boolean orderly = conversation.ending(client) == SoakConversation.Ending.ORDERLY;
        cut = orderly ? out.total : (long) (random.nextDouble() * out.total);
        RdmaSocketChannel channel = (RdmaSocketChannel) context.channel();
        channel.config().setLendReceives(random.nextInt(4) > 0);
        context.channel().closeFuture().addListener(closed -> {
            if (conversation.isOrderly() && in.received != in.total) {
                soak.fail(new AssertionError(
                        conversation + ": closed early on the side of the " + (client ? "client" : "server")));
            }
            if (conversation.closed(client)) {
                soak.endOf(conversation);
            }
        });
        send(context);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        head.release();
    }

    // ---- sending ----

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (out != null) {
            send(context);
        }
    }

    private void send(ChannelHandlerContext context) {
        Channel channel = context.channel();
        ChannelFuture last = null;
        for (int i = 0; i < TURN && channel.isWritable() && out.sent < cut; i++) {
            int n = (int) Math.min(cut - out.sent, 1 + random.nextInt(random.nextInt(3) == 0 ? 100_000 : 2000));
            ByteBuf message = message(out.base + out.sent, n);
            out.sent += n; // before the write, which may call back
            last = context.write(message);
        }
        boolean done = out.sent >= cut && !outputShut;
        if (done) {
            outputShut = true;
            leave(context, last == null ? context.write(Unpooled.EMPTY_BUFFER) : last);
        }
        context.flush();
        if (!done && !outputShut && channel.isWritable()) {
            channel.eventLoop().execute(() -> {
                if (channel.isWritable()) {
                    send(context);
                }
            });
        }
    }

    private ByteBuf message(long offset, int n) {
        switch (random.nextInt(6)) {
            case 0 -> {
                return Pattern.fill(PooledByteBufAllocator.DEFAULT.directBuffer(n), offset, n);
            }
            case 1 -> {
                return Pattern.fill(Unpooled.buffer(n), offset, n);
            }
            case 2 -> {
                CompositeByteBuf composite = OURS.compositeBuffer();
                int first = random.nextInt(n + 1);
                composite.addComponent(true, Pattern.fill(OURS.directBuffer(n), offset, first));
                return composite.addComponent(true, Pattern.fill(OURS.directBuffer(n), offset + first, n - first));
            }
            default -> {
                return Pattern.fill(OURS.directBuffer(n), offset, n);
            }
        }
    }

    private void leave(ChannelHandlerContext context, ChannelFuture last) {
        RdmaSocketChannel channel = (RdmaSocketChannel) context.channel();
        switch (conversation.ending(client)) {
            case ORDERLY ->
                last.addListener(written -> {
                    if (written.isSuccess()) {
                        channel.shutdownOutput().addListener(shut -> closeAtTheEnd(context));
                    }
                });
            case RESET -> {
                channel.config().setSoLinger(0);
                context.close();
            }
            case CLOSE -> context.close();
            default -> throw new AssertionError();
        }
    }

    /**
     * Closes at once if what it has sent fits into what the other end has granted; else when that has read it all. A
     * closed connection whose peer takes nothing for minutes is reset, and a busy event loop may take as long.
     */
    private void closeAtTheEnd(ChannelHandlerContext context) {
        if (!inputEnded || !((RdmaSocketChannel) context.channel()).isOutputShutdown()) {
            return;
        }
        if (out.total <= GRANTED || out.received == out.total) {
            context.close();
        } else if (context.channel().isOpen()) {
            context.executor().schedule(() -> closeAtTheEnd(context), 10, TimeUnit.MILLISECONDS);
        }
    }

    // ---- reading ----

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        if (conversation == null && !begin(context, bytes)) {
            bytes.release();
            return;
        }
        long offset = in.received;
        in.received += bytes.readableBytes();
        soak.kept.incrementAndGet();
        if (random.nextInt(3) == 0) {
            context.executor()
                    .schedule(() -> giveBack(context, bytes, offset), random.nextInt(3000), TimeUnit.MICROSECONDS);
        } else {
            giveBack(context, bytes, offset);
        }
    }

    /** Whether the beginning is complete, and the conversation is known. */
    private boolean begin(ChannelHandlerContext context, ByteBuf bytes) {
        bytes.readBytes(head, Math.min(head.writableBytes(), bytes.readableBytes()));
        if (head.isWritable()) {
            return false;
        }
        conversation = soak.conversation(head.readLong());
        if (conversation == null) { // broken off meanwhile
            context.close();
            return false;
        }
        join(context);
        return true;
    }

    private void giveBack(ChannelHandlerContext context, ByteBuf bytes, long offset) {
        try {
            int n = bytes.readableBytes();
            if (!Unpooled.wrappedBuffer(Pattern.bytes(in.base + offset, n)).equals(bytes)) {
                soak.fail(new AssertionError(conversation + ": wrong bytes after " + offset + " on the side of the "
                        + (client ? "client" : "server")));
                context.close();
            }
            soak.verified.addAndGet(n);
        } finally {
            bytes.release();
            soak.kept.decrementAndGet();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        if (random != null
                && random.nextInt(8) == 0
                && context.channel().config().isAutoRead()) {
            context.channel().config().setAutoRead(false);
            context.executor()
                    .schedule(
                            () -> context.channel().config().setAutoRead(true),
                            random.nextInt(3000),
                            TimeUnit.MICROSECONDS);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event != ChannelInputShutdownEvent.INSTANCE) {
            return;
        }
        inputEnded = true;
        if (conversation == null || !conversation.isOrderly()) {
            context.close();
            return;
        }
        if (in.received != in.total) {
            soak.fail(new AssertionError(conversation + ": an early end"));
        }
        closeAtTheEnd(context);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (conversation != null && conversation.isOrderly()) {
            soak.fail(new AssertionError(conversation.toString(), cause));
        }
        context.close();
    }
}
