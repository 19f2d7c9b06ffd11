/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import org.jrsocket.verbs.loopback.Delivery;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.junit.jupiter.api.Tag;

/** The same races with messages that travel on a thread of their own. */
@Tag("once")
@Tag("slow")
class StreamRacesWithLatencyTest extends StreamRacesTest {
    @Override
    LoopbackConfig config() {
        return new LoopbackConfig().delivery(Delivery.THREAD);
    }
}
