/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Clients that try RDMA, are refused, and use TCP. */
class FallbackNioTest extends NioBehaviours {

    private static NioKind kind;

    @BeforeAll
    static void open() throws Exception {
        kind = NioKind.fallback();
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
