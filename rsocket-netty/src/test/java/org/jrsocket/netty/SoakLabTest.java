/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Random traffic on two event loops, on a device. */
@Tag("device")
@Tag("lab")
class SoakLabTest {

    @Test
    void shouldLoseAndKeepNothing() throws Exception {
        AtomicInteger left = new AtomicInteger(15);
        soak(20, 1 << 18, () -> left.decrementAndGet() >= 0);
    }

    @Test
    @Tag("long")
    void shouldLoseAndKeepNothingForLong() throws Exception {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(8);
        soak(500, 1 << 20, () -> System.nanoTime() < end);
    }

    private static void soak(int channels, int largest, BooleanSupplier goOn) throws Exception {
        InetSocketAddress address = new InetSocketAddress(DeviceLab.assumed(), 0);
        Rdma.ensureAvailability();
        Leaks leaks = new Leaks();
        Counted before = Counted.now();
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, RdmaIoHandler.newFactory());
        try {
            Soak soak = new Soak(loops, RdmaSocketChannel::new, seed, channels, largest, goOn);
            soak.run(RdmaServerSocketChannel::new, address);
            System.out.println(soak + "; " + Counted.since(before));
            assertTrue(soak.orderly.get() > 0);
            assertTrue(Counted.since(before).received() >= soak.verified.get(), "not all was carried by RDMA");
        } finally {
            loops.shutdownGracefully(0, ChannelTests.PATIENCE, TimeUnit.SECONDS).sync();
        }
        leaks.assertNone();
    }
}
