/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Asynchronous channels that try RDMA and use TCP. */
class FallbackAioTest extends AioBehaviours {

    private static AioKind kind;

    @BeforeAll
    static void open() throws Exception {
        kind = AioKind.fallback();
    }

    @AfterAll
    static void everythingIsGivenBack() throws Exception {
        kind.assertUsedIfConnected();
        kind.close();
    }

    @Override
    AioKind kind() {
        return kind;
    }
}
