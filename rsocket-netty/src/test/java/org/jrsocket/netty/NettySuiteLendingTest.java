/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import org.jrsocket.nio.NettyBehaviours;
import org.jrsocket.nio.NioKind;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The same, with received memory handed out. */
@Tag("once")
@Tag("lent")
class NettySuiteLendingTest extends NettyBehaviours {

    private static Netty netty;

    @BeforeAll
    static void open() throws Exception {
        NioKind kind = NioKind.loopback();
        netty = new Netty(kind, new TransportUnderTest(kind.provider(), true));
    }

    @AfterAll
    static void everythingIsGivenBack() throws Exception {
        netty.close();
    }

    @Override
    protected Netty netty() {
        return netty;
    }
}
