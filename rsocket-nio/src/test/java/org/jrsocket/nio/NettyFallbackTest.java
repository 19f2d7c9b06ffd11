/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** Netty over our provider, all connections falling back to TCP. */
@Tag("tcp")
class NettyFallbackTest extends NettyBehaviours {

    private static Netty netty;

    @BeforeAll
    static void open() throws Exception {
        netty = new Netty(NioKind.fallback());
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
