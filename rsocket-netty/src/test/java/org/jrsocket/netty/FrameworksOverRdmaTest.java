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
import org.junit.jupiter.api.BeforeAll;

/** All connections over loopback verbs, with received memory lent. */
class FrameworksOverRdmaTest extends FrameworkBehaviours {

    private static NioKind kind;
    private static EventLoopGroup loops;
    private static Site site;

    @BeforeAll
    static void open() throws Exception {
        kind = NioKind.loopback();
        loops = new MultiThreadIoEventLoopGroup(2, RdmaIoHandler.newFactory(kind.provider()));
        site = Site.of(
                "127.0.0.1",
                loops,
                () -> new RdmaSocketChannel(kind.provider()),
                () -> new RdmaServerSocketChannel(kind.provider()),
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

    @Override
    void check(Counted before, long bytes) throws Exception {
        awaitOverRdma(before, bytes);
    }
}
