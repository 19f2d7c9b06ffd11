/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has a JVM that exits wait for the delivery of what its sockets had taken, and then for peers that have not heard of a
 * connection's end: the queue pairs and ids go with the process. For TCP the kernel does both when the process is gone.
 */
final class ExitDelay {

    private static final Logger LOG = LoggerFactory.getLogger(RdmaTransport.class);

    /** For each of the two. */
    private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final OpenStreams streams;
    private final Farewells farewells;
    private final Thread hook = Threads.daemon("jrsocket-exit", this::awaitPeers);

    /** Of no effect before {@link #begin}. */
    ExitDelay(OpenStreams streams, Farewells farewells) {
        this.streams = streams;
        this.farewells = farewells;
    }

    void begin() {
        try {
            Runtime.getRuntime().addShutdownHook(hook);
        } catch (IllegalStateException e) {
            LOG.debug("the first RDMA connection of a JVM that exits already: nothing waits for its delivery");
        }
    }

    void end() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            LOG.debug("closing while the JVM exits");
        }
    }

    void awaitPeers() {
        try {
            streams.awaitDelivery(MOST_NANOS);
            awaitFarewells();
        } catch (LinkageError | RuntimeException e) {
            // The class loader is closed, of a web application for example, and what this needs was not loaded before.
            // Nor can the log be: there is nobody to tell.
        }
    }

    void awaitFarewells() {
        OpenStreams.awaitEnd(farewells::areFresh, MOST_NANOS);
    }
}
