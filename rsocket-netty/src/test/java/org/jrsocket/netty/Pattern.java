/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
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

    /** After so many bytes they repeat. */
    private static final int PERIOD = 1 << 24;
    /** A period, and as much of the next one as is asked for in one piece. */
    private static final byte[] ALL = new byte[PERIOD + PERIOD / 4];

    static {
        for (int i = 0; i < ALL.length; i++) {
            ALL[i] = at(i);
        }
    }

    /** Where those at {@code offset} of the stream lie in {@link #ALL}. */
    private static int place(long offset) {
        return (int) (offset & PERIOD - 1);
    }

    static byte[] bytes(long offset, int bytes) {
        return fill(Unpooled.buffer(bytes), offset, bytes).array();
    }

    /** Appends {@code bytes} that come at {@code offset} of the stream. */
    static ByteBuf fill(ByteBuf buffer, long offset, int bytes) {
        for (int done = 0; done < bytes; ) {
            int n = Math.min(bytes - done, PERIOD / 4);
            buffer.writeBytes(ALL, place(offset + done), n);
            done += n;
        }
        return buffer;
    }

    /** Compares every byte that a channel reads, and releases it. */
    static final class Checker extends ChannelInboundHandlerAdapter {
        private final long expected;
        private final byte[] got = new byte[1 << 16];
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
                while (bytes.isReadable()) {
                    int n = Math.min(got.length, bytes.readableBytes());
                    bytes.readBytes(got, 0, n); // all at once: to record each access to a buffer takes long
                    int from = place(seen);
                    int wrong = Arrays.mismatch(got, 0, n, ALL, from, from + n);
                    if (wrong >= 0) {
                        fail(new AssertionError("byte " + (seen + wrong) + " is " + got[wrong]));
                        context.close();
                        return;
                    }
                    seen += n;
                }
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
