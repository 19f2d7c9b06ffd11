/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Everything over RDMA, in one JVM. */
class LoopbackNioTest extends NioBehaviours {

    private static NioKind kind;

    @BeforeAll
    static void open() throws Exception {
        kind = NioKind.loopback();
    }

    @AfterAll
    static void everythingIsGivenBack() throws Exception {
        kind.assertUsedIfConnected();
        kind.close();
    }

    @Override
    NioKind kind() {
        return kind;
    }
}
