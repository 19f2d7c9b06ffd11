/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import org.jrsocket.endpoint.BundlePool;
import org.jrsocket.threads.Threads;
import org.jrsocket.verbs.VerbsProvider;
import org.junit.jupiter.api.Tag;

/** All of it on a host of many processors, where streams are divided among several service threads. */
@Tag("slow")
class LoopbackManyLoopsStreamTest extends LoopbackStreamTest {
    @Override
    RdmaTransport open(VerbsProvider provider) throws IOException {
        return RdmaTransport.over(provider, BundlePool.IDLE_NANOS, Threads::daemon, 3);
    }
}
