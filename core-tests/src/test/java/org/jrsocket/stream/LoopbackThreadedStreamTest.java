/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import org.jrsocket.verbs.loopback.Delivery;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.junit.jupiter.api.Tag;

/**
 * All of it with messages that travel on a thread of their own, so that sends are still under way when the poster goes
 * on.
 */
@Tag("slow")
class LoopbackThreadedStreamTest extends LoopbackStreamTest {
    @Override
    LoopbackConfig config() {
        return new LoopbackConfig().delivery(Delivery.THREAD);
    }
}
