/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks;

import java.nio.file.Path;
import org.jrsocket.interop.JvmProcess;
import org.jrsocket.interop.Site;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * grpc-java on the Netty that it carries, which would prefer its native transport. Unary calls; streams of the server,
 * of the client and of both.
 */
@Tag("lab")
@Tag("frameworks")
class GrpcLabTest {

    private static final int BLOBS = 4;
    private static final int SIZE = 50_000;

    @TempDir
    private Path folder;

    @Test
    void shouldMakeCallsOfAllKindsWithAndWithoutTls() throws Exception {
        Path keys = Programs.keyStore(folder);
        try (JvmProcess server = Programs.under("grpc", "BlobServer", Site.address(), keys, Programs.PASSWORD)
                .start()) {
            String plain = Programs.port(server, "plain");
            String tls = Programs.port(server, "tls");
            try (Carried carried = Carried.fromNow()) {
                JvmProcess.Result client = Programs.run(
                        Programs.under(
                                "grpc",
                                "BlobClient",
                                Site.address(),
                                plain,
                                tls,
                                BLOBS,
                                SIZE,
                                System.nanoTime(),
                                keys,
                                Programs.PASSWORD),
                        server);
                carried.assertBytes(Long.parseLong(client.value("bytes")));
            }
        }
    }
}
