/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Asynchronous channels over RDMA, by loopback verbs. */
class LoopbackAioTest extends AioBehaviours {

    private static AioKind kind;

    @BeforeAll
    static void open() throws Exception {
        kind = AioKind.loopback();
    }

    @AfterAll
    static void everythingIsGivenBack() throws Exception {
        kind.assertUsed();
        kind.close();
    }

    @Override
    AioKind kind() {
        return kind;
    }
}
