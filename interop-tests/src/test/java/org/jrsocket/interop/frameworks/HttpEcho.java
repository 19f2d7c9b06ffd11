/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks;

import java.nio.file.Path;
import org.jrsocket.interop.JvmProcess;
import org.jrsocket.interop.Site;

/**
 * The JDK's HttpClient and an echo server of some framework, which has printed {@code plain=PORT} and {@code tls=PORT}:
 * both versions of HTTP, without TLS and with it.
 */
final class HttpEcho {

    /** Of a body, in bytes. */
    static final int SIZE = 200_000;

    private HttpEcho() {}

    /** Fails unless every byte is right, and was carried by what should carry it. */
    static void run(JvmProcess server, Path keys) throws Exception {
        String plain = Programs.port(server, "plain");
        String tls = Programs.port(server, "tls");
        try (Carried carried = Carried.fromNow()) {
            JvmProcess.Result client = Programs.run(
                    Programs.under(
                            "jetty", // a client of the JDK's alone
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
