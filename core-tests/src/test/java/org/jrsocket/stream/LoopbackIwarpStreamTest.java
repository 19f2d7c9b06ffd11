/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** All of it in iWARP's send-message mode, for which no soft device is at hand. */
@Tag("once")
@Tag("slow")
class LoopbackIwarpStreamTest extends LoopbackStreamTest {
    @Override
    LoopbackConfig config() {
        return new LoopbackConfig().iwarp(true);
    }

    /**
     * A credit update and the grant that follows it: on iWARP the grant is written before its message is seen, perhaps
     * while the update is handled.
     */
    @Test
    void shouldNotLoseAGrantThatIsWrittenWhileAnUpdateIsHandled() throws Exception {
        for (int i = 0; i < 100; i++) {
            shouldCarryBothDirectionsThroughTinyRingsAndQueues();
        }
    }
}
