/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty.example;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.zip.CRC32C;

/** Sends so many bytes, each time as much as the channel takes, and compares what comes back. */
@SuppressWarnings("FutureReturnValueIgnored") // as users of Netty write it
final class Sender extends ChannelInboundHandlerAdapter {

    private static final int PIECE = 64 * 1024;

    private final long bytes;
    private final CRC32C sent = new CRC32C();
    private final CRC32C received = new CRC32C();
    private long left;
    private long back;

    Sender(long bytes) {
        this.bytes = bytes;
        this.left = bytes;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        send(context);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        send(context);
    }

    /** {@code alloc()} is the transport's: what it gives is sent without a copy. */
    private void send(ChannelHandlerContext context) {
        while (left > 0 && context.channel().isWritable()) {
            ByteBuf piece = context.alloc().directBuffer(PIECE);
            while (piece.isWritable() && left > 0) {
                piece.writeLong(left);
                left -= Long.BYTES;
            }
            sent.update(piece.nioBuffer());
            context.writeAndFlush(piece);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf piece = (ByteBuf) message;
        back += piece.readableBytes();
        received.update(piece.nioBuffer());
        piece.release();
        if (back == bytes) {
            context.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        cause.printStackTrace();
        context.close();
    }

    String result() {
        boolean whole = back == bytes && sent.getValue() == received.getValue();
        return back + " of " + bytes + " bytes came back, " + (whole ? "unchanged" : "changed");
    }
}
