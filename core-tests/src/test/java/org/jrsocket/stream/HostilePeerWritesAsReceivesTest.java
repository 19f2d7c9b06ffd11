/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.junit.jupiter.api.Tag;

/** The same where the opcode of a completion does not tell a write from a send. */
@Tag("once")
@Tag("slow")
class HostilePeerWritesAsReceivesTest extends HostilePeerTest {
    @Override
    LoopbackConfig config() {
        return new LoopbackConfig().writesAsReceives(true);
    }
}
