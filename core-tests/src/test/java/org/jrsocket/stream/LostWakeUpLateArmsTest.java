/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import org.jrsocket.verbs.loopback.LoopbackConfig;

/** All of it with a device that arms a queue only when it is polled next. */
class LostWakeUpLateArmsTest extends LostWakeUpTest {
    @Override
    LoopbackConfig config() {
        return new LoopbackConfig().lateArms(true);
    }
}
