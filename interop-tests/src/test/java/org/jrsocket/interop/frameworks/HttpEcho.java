/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jrsocket.interop.JvmProcess;
import org.jrsocket.interop.Site;

/**
 * The JDK's HttpClient and an echo server of some framework, which has printed {@code plain=PORT} and {@code tls=PORT}:
 * both versions of HTTP, without TLS and with it.
 */
final class HttpEcho {

    /** Of a body, in bytes. */
    static final int SIZE = 70_000; // more than the first window of HTTP/2

    private HttpEcho() {}

    /**
     * Fails unless every byte is right, and was carried by what should carry it.
     *
     * @param prefixes of {@code plain=PORT} and {@code tls=PORT} in what the server prints, a pair of ports each
     */
    static void run(JvmProcess server, Path keys, String... prefixes) throws Exception {
        List<Object> arguments =
                new ArrayList<>(List.of(Site.address(), SIZE, System.nanoTime(), keys, Programs.PASSWORD));
        for (String prefix : prefixes) {
            String plain = Programs.port(server, prefix + "plain");
            String tls = Programs.port(server, prefix + "tls");
            arguments.addAll(List.of("http", plain, "HTTP_1_1", "http", plain, "HTTP_2"));
            arguments.addAll(List.of("https", tls, "HTTP_1_1", "https", tls, "HTTP_2"));
        }
        try (Carried carried = Carried.fromNow()) {
            JvmProcess.Result client = Programs.run(
                    Programs.under("jetty", "EchoClient", arguments.toArray()), // a client of the JDK's alone
                    server);
            client.out().forEach(System.out::println);
            carried.assertBytes(Long.parseLong(client.value("bytes")));
        }
    }
}
