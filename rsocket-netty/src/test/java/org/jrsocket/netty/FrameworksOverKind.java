/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import java.util.concurrent.TimeUnit;
import org.jrsocket.nio.NioKind;
import org.junit.jupiter.api.AfterAll;

/** Over one kind of provider, without a device. A class opens its kind before all its tests. */
abstract class FrameworksOverKind extends FrameworkBehaviours {

    private static NioKind kind;
    private static EventLoopGroup loops;
    private static Site site;

    static void open(NioKind of) throws Exception {
        kind = of;
        loops = new MultiThreadIoEventLoopGroup(2, RdmaIoHandler.newFactory(of.provider()));
        site = Site.of(
                "127.0.0.1",
                loops,
                () -> new RdmaSocketChannel(of.provider()),
                () -> new RdmaServerSocketChannel(of.provider()),
                true);
    }

    @AfterAll
    static void everythingIsGivenBack() throws Exception {
        loops.shutdownGracefully(0, PATIENCE.toSeconds(), TimeUnit.SECONDS).sync();
        kind.close();
    }

    @Override
    Site site() {
        return site;
    }
}
