/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The reference: Netty over the JDK's own provider. */
@Tag("reference")
@Tag("tcp")
class NettyJdkTest extends NettyBehaviours {

    private static Netty netty;

    @BeforeAll
    static void open() throws Exception {
        netty = new Netty(NioKind.jdk());
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
