/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * Tests of our channels alone, each with a provider of its own over loopback verbs; afterwards everything must be given
 * back.
 */
abstract class LoopbackAioTests extends AioSuite {

    private AioKind kind;

    @BeforeEach
    void openKind() throws Exception {
        kind = AioKind.loopback();
    }

    @AfterEach
    void everythingIsGivenBack() throws IOException {
        closeAll();
        kind.close();
    }

    @Override
    AioKind kind() {
        return kind;
    }
}
