/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ResourceLeakDetector;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a message costs an event loop. */
@Tag("slow")
@Tag("once")
@SuppressWarnings("FutureReturnValueIgnored") // what fails shows in what arrives
class EventLoopCostTest extends ChannelTests {

    private static final int WARM_UP = 20_000;
    private static final int MEASURED = 10_000;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private boolean lendReceives;

    @Override
    void configure(RdmaSocketChannel channel) {
        channel.config().setLendReceives(lendReceives);
    }

    /**
     * Only Netty's iterator over the selected keys: 32 bytes for a selection, of which a large message takes several.
     * Messages of the last two sizes are sent from where they lie. Netty expects larger messages now and then, and so
     * uses several sizes of buffers.
     */
    @ParameterizedTest
    @CsvSource({
        "64, false, 100", "2048, false, 100", "4096, false, 100", "65536, false, 400",
        "64, true, 100", "2048, true, 100", "4096, true, 100", "65536, true, 400"
    })
    void shouldAllocateNothingForAMessage(int size, boolean lending, int most) throws Exception {
        lendReceives = lending;
        Pings pings = new Pings(WARM_UP + MEASURED, size);
        Pair pair = pair(pings, new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                context.writeAndFlush(message, context.voidPromise());
            }
        });
        peak(pair.client());
        peak(pair.server());
        ResourceLeakDetector.Level level = ResourceLeakDetector.getLevel();
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED); // which keeps a record of each buffer
        double result;
        try {
            pair.client().eventLoop().execute(() -> pings.ping(pair.client()));
            result = pings.bytes.get(5 * PATIENCE, TimeUnit.SECONDS); // on a busy machine each takes milliseconds
        } finally {
            ResourceLeakDetector.setLevel(level);
        }
        double bytes = result;
        System.out.printf(
                "%.1f bytes allocated for a round trip of %d, by the client's event loop%s%n",
                bytes, size, lending ? ", which lends" : "");
        assertTrue(bytes < most, () -> bytes + " bytes allocated for each round trip");
    }

    /** Leaves nothing but unused memory for buffers of one size. */
    private static void peak(Channel channel) throws Exception {
        channel.eventLoop()
                .submit(() -> {
                    List<ByteBuf> held = new ArrayList<>();
                    for (int i = 0; i < 1000; i++) {
                        held.add(channel.alloc().directBuffer(1 << 16));
                    }
                    held.forEach(ByteBuf::release);
                })
                .get();
    }

    private static final class Pings extends ChannelInboundHandlerAdapter {
        final CompletableFuture<Double> bytes = new CompletableFuture<>();
        private final int size;
        private int missing; // of the message that is on its way
        private int left;
        private long before;

        Pings(int count, int size) {
            left = count;
            this.size = size;
        }

        void ping(Channel channel) {
            missing = size;
            channel.writeAndFlush(channel.alloc().directBuffer(size).writerIndex(size), channel.voidPromise());
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf buffer = (ByteBuf) message;
            missing -= buffer.readableBytes();
            buffer.release();
            if (missing > 0) {
                return;
            }
            if (--left == MEASURED) {
                before = allocated();
            } else if (left == 0) {
                bytes.complete((double) (allocated() - before) / MEASURED);
                return;
            }
            ping(context.channel());
        }

        private static long allocated() {
            return THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
        }
    }
}
