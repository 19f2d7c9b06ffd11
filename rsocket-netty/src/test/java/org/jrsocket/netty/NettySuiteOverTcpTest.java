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

/** Netty's suite on our channels, all connections falling back to TCP. */
@Tag("once")
@Tag("tcp")
class NettySuiteOverTcpTest extends NettyBehaviours {

    private static Netty netty;

    @BeforeAll
    static void open() throws Exception {
        NioKind kind = NioKind.fallback();
        netty = new Netty(kind, new TransportUnderTest(kind.provider(), false));
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
