/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import org.jrsocket.endpoint.BundlePool;
import org.jrsocket.threads.Threads;
import org.jrsocket.verbs.VerbsProvider;

/** The same where a service thread of their own wakes the virtual threads of most streams. */
class LostWakeUpManyLoopsTest extends LostWakeUpTest {
    @Override
    RdmaTransport open(VerbsProvider provider) throws IOException {
        return RdmaTransport.over(provider, BundlePool.IDLE_NANOS, Threads::daemon, 3);
    }
}
