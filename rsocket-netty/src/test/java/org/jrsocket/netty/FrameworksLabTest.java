/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ReflectiveChannelFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** On a device, which must have delivered the data. The transport is named, as a program names it, and nothing else. */
@Tag("device")
@Tag("lab")
class FrameworksLabTest extends FrameworkBehaviours {

    /** The part of the bytes that the kernel may fail to count. */
    private static final int MISSED = 16;

    private static EventLoopGroup loops;
    private static Site site;
    private static long payload;

    @BeforeAll
    static void open() throws Exception {
        String address = DeviceLab.assumed();
        Rdma.ensureAvailability();
        loops = new MultiThreadIoEventLoopGroup(2, RdmaIoHandler.newFactory());
        site = Site.of(
                address,
                loops,
                new ReflectiveChannelFactory<>(RdmaSocketChannel.class),
                new ReflectiveChannelFactory<>(RdmaServerSocketChannel.class),
                true);
        DeviceLab.bytes("on");
    }

    @AfterAll
    static void theDeviceHasCarriedIt() throws Exception {
        if (loops == null) {
            return;
        }
        loops.shutdownGracefully(0, PATIENCE.toSeconds(), TimeUnit.SECONDS).sync();
        long delivered = Long.parseLong(DeviceLab.bytes());
        DeviceLab.bytes("off");
        System.out.println("of " + payload + " bytes of payload the device delivered " + delivered);
        assertTrue(
                delivered >= payload - payload / MISSED,
                () -> "of " + payload + " bytes of payload the device delivered " + delivered);
    }

    @Override
    Site site() {
        return site;
    }

    @Override
    void check(Counted before, long bytes) throws Exception {
        payload += bytes;
        awaitOverRdma(before, bytes);
        System.out.println(bytes + " bytes of payload: " + Counted.since(before));
    }
}
