/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * Tests of our channels alone, each with a provider of its own over loopback verbs; afterwards everything must be given
 * back.
 */
abstract class LoopbackChannelTests extends NioSuite {

    NioKind.OverLoopback kind;

    @BeforeEach
    void openKind() throws Exception {
        use(NioKind.loopback());
    }

    /** Another kind instead, before anything is open. */
    void use(NioKind other) throws IOException {
        if (kind != null) {
            kind.close();
        }
        kind = (NioKind.OverLoopback) other;
    }

    @AfterEach
    void everythingIsGivenBack() throws IOException {
        closeAll();
        kind.close();
    }

    @Override
    NioKind kind() {
        return kind;
    }
}
