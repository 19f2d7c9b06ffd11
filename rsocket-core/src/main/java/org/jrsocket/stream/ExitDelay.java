/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.concurrent.TimeUnit;
import org.jrsocket.threads.Threads;

/**
 * Makes an exiting JVM wait until what its sockets had taken is delivered, and then until peers have been told of their
 * connections' end: the queue pairs and ids vanish with the process. For TCP the kernel does both after the process has
 * gone.
 */
final class ExitDelay {

    /** The limit for each of the two waits. */
    private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final OpenStreams streams;
    private final Farewells farewells;
    private final Thread hook = Threads.daemon("jrsocket-exit", this::awaitPeers);

    /** Creates the delay, which has no effect before {@link #begin}. */
    ExitDelay(OpenStreams streams, Farewells farewells) {
        this.streams = streams;
        this.farewells = farewells;
    }

    void begin() {
        try {
            Runtime.getRuntime().addShutdownHook(hook);
        } catch (IllegalStateException e) {
            Logs.TRANSPORT.debug(
                    "the JVM is already exiting: it does not wait for RDMA connections to deliver their data");
        }
    }

    void end() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            Logs.TRANSPORT.debug("closing while the JVM exits");
        }
    }

    void awaitPeers() {
        try {
            streams.awaitDelivery(MOST_NANOS);
            awaitFarewells();
        } catch (LinkageError | RuntimeException e) {
            // The class loader is closed, that of a web application for example, and a class needed here was not loaded
            // before. The log may not be loaded either, so nobody can be told.
        }
    }

    void awaitFarewells() {
        OpenStreams.awaitEnd(farewells::areFresh, MOST_NANOS);
    }
}
