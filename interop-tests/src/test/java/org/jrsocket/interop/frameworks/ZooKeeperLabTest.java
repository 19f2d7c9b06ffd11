/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.jrsocket.interop.JvmProcess;
import org.jrsocket.interop.Site;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A ZooKeeper server and client, NIO at both ends as is their default. */
@Tag("lab")
@Tag("frameworks")
class ZooKeeperLabTest {

    private static final int NODES = 500;
    private static final int SIZE = 1000;

    @TempDir
    private Path folder;

    @Test
    void shouldCreateReadAndWatchNodes() throws Exception {
        try (JvmProcess server =
                Programs.under("zookeeper", "Server", Site.address(), folder).start()) {
            String port = Programs.port(server, "listening");
            try (Carried carried = Carried.fromNow()) {
                JvmProcess.Result client = Programs.run(
                        Programs.under("zookeeper", "Client", Site.address(), port, NODES, SIZE, System.nanoTime()),
                        server);
                carried.assertBytes(Long.parseLong(client.value("bytes")));
                assertEquals(Integer.toString(NODES / 10), client.value("events"), client::toString);
            }
        }
    }
}
