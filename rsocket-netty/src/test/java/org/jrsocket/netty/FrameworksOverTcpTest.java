/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import org.jrsocket.nio.NioKind;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The same, all connections falling back to TCP. */
@Tag("once")
class FrameworksOverTcpTest extends FrameworksOverKind {

    @BeforeAll
    static void open() throws Exception {
        open(NioKind.fallback());
    }

    @Override
    void check(Counted before, long bytes) {
        assertNotOverRdma(before);
    }
}
