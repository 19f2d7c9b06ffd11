/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import org.jrsocket.nio.NioKind;
import org.junit.jupiter.api.BeforeAll;

/** All connections over loopback verbs, with received memory lent. */
class FrameworksOverRdmaTest extends FrameworksOverKind {

    @BeforeAll
    static void open() throws Exception {
        open(NioKind.loopback());
    }

    @Override
    void check(Counted before, long bytes) throws Exception {
        awaitOverRdma(before, bytes);
    }
}
