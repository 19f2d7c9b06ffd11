/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Bytes that tell their place in the stream. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails shows in what arrives
final class Pattern {

    private Pattern() {}

    static byte at(long offset) {
        return (byte) (offset * 31 + (offset >> 8) * 7 + (offset >> 16));
    }

    /** Those at {@code offset} of the stream. All at once: to record each access to a buffer takes long. */
    static byte[] bytes(long offset, int bytes) {
        byte[] all = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            all[i] = at(offset + i);
        }
        return all;
    }

    /** Appends {@code bytes} that come at {@code offset} of the stream. */
    static ByteBuf fill(ByteBuf buffer, long offset, int bytes) {
        return buffer.writeBytes(bytes(offset, bytes));
    }

    /** Compares every byte that a channel reads, and releases it. */
    static final class Checker extends ChannelInboundHandlerAdapter {
        private final long expected;
        private final CountDownLatch done = new CountDownLatch(1);
        private volatile long seen;
        private volatile Throwable failure;

        Checker(long expected) {
            this.expected = expected;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            try {
                byte[] got = new byte[bytes.readableBytes()];
                bytes.readBytes(got);
                int wrong = Arrays.mismatch(got, bytes(seen, got.length));
                if (wrong >= 0) {
                    fail(new AssertionError("byte " + (seen + wrong) + " is " + got[wrong]));
                    context.close();
                    return;
                }
                seen += got.length;
                if (seen >= expected) {
                    done.countDown();
                }
            } finally {
                bytes.release();
            }
        }

        private void fail(Throwable cause) {
            if (failure == null) {
                failure = cause;
            }
            done.countDown();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            fail(cause);
            context.close();
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            if (seen < expected) {
                fail(new AssertionError("closed after " + seen + " bytes of " + expected));
            }
        }

        long seen() {
            return seen;
        }

        void await() throws InterruptedException {
            assertTrue(
                    done.await(ChannelTests.PATIENCE, TimeUnit.SECONDS),
                    () -> seen + " bytes of " + expected + " came");
            if (failure != null) {
                throw new AssertionError(failure);
            }
        }
    }
}
