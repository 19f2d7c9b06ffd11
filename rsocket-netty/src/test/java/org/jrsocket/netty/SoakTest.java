/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random traffic on two event loops: sizes, closes, half closes, resets, reading switched off and on. It is short
 * unless {@code jrsocket.soak.seconds} says how long, and {@code jrsocket.soak.channels} how many channels there are
 * at a time.
 */
@Tag("once")
@SuppressWarnings("FutureReturnValueIgnored") // what fails shows in what is printed
class SoakTest extends ChannelTests {

    private static final int CHANNELS = Integer.getInteger("jrsocket.soak.channels", 60);
    private static final int SECONDS = Integer.getInteger("jrsocket.soak.seconds", 0);
    private static final int CONVERSATIONS = 200;
    private static final int LOOK_SECONDS = 30;
    /** Bytes that are kept for connections to come. */
    private static final int KEPT = 32 << 20;

    @Test
    void shouldLoseAndKeepNothingWhateverTheApplicationDoes() throws Exception {
        Leaks leaks = new Leaks();
        long seed = Long.getLong("jrsocket.soak.seed", System.nanoTime());
        System.out.println("seed " + seed);
        Soak soak = new Soak(loops, () -> new RdmaSocketChannel(provider), seed, CHANNELS, 1 << 20, goOn());
        Footprint footprint = new Footprint(transport::registeredMemory);
        ScheduledExecutorService looks = Executors.newSingleThreadScheduledExecutor();
        try {
            if (SECONDS > 0) {
                Runnable look = () -> {
                    if (soak.isFull()) {
                        footprint.look();
                    }
                };
                looks.scheduleWithFixedDelay(look, LOOK_SECONDS, LOOK_SECONDS, TimeUnit.SECONDS);
            }
            soak.run(() -> new RdmaServerSocketChannel(provider), new InetSocketAddress("127.0.0.1", 0));
        } finally {
            looks.shutdown();
            assertTrue(looks.awaitTermination(PATIENCE, TimeUnit.SECONDS));
            System.out.println(soak + "; " + Rdma.metrics());
        }
        assertTrue(soak.orderly.get() > 0);
        await(() -> transport.liveStreams() == 0, () -> transport.liveStreams() + " streams are left");
        await(
                () -> transport.registeredMemory() <= KEPT,
                () -> transport.registeredMemory() + " bytes are registered still");
        leaks.assertNone();
        if (SECONDS > 0) {
            footprint.assertFlat();
        }
    }

    private static BooleanSupplier goOn() {
        if (SECONDS == 0) {
            AtomicInteger left = new AtomicInteger(CONVERSATIONS);
            return () -> left.decrementAndGet() >= 0;
        }
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        return () -> System.nanoTime() < end;
    }
}
