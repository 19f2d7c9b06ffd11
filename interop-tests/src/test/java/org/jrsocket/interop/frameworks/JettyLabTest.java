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

/** A Jetty server, and the JDK's HttpClient. */
@Tag("lab")
@Tag("frameworks")
class JettyLabTest {

    private static final int SIZE = 200_000;

    @TempDir
    private Path folder;

    @Test
    void shouldSpeakHttp1AndHttp2WithAndWithoutTls() throws Exception {
        Path keys = Programs.keyStore(folder);
        try (JvmProcess server = Programs.under("jetty", "EchoServer", Site.address(), keys, Programs.PASSWORD)
                .start()) {
            String plain = Programs.port(server, "plain");
            String tls = Programs.port(server, "tls");
            try (Carried carried = Carried.fromNow()) {
                JvmProcess.Result client = Programs.run(
                        Programs.under(
                                "jetty",
                                "EchoClient",
                                Site.address(),
                                SIZE,
                                System.nanoTime(),
                                keys,
                                Programs.PASSWORD,
                                "http",
                                plain,
                                "HTTP_1_1",
                                "http",
                                plain,
                                "HTTP_2",
                                "https",
                                tls,
                                "HTTP_1_1",
                                "https",
                                tls,
                                "HTTP_2"),
                        server);
                client.out().forEach(System.out::println);
                carried.assertBytes(Long.parseLong(client.value("bytes")));
            }
        }
    }
}
