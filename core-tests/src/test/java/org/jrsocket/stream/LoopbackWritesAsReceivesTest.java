/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.junit.jupiter.api.Tag;

/** All of it with a device that reports writes with immediate data as receives. */
@Tag("once")
@Tag("slow")
class LoopbackWritesAsReceivesTest extends LoopbackStreamTest {
    @Override
    LoopbackConfig config() {
        return new LoopbackConfig().writesAsReceives(true);
    }
}
