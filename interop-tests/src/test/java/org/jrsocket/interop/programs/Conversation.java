/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jrsocket.interop.JvmProcess;
import org.jrsocket.interop.LabBytes;
import org.jrsocket.interop.Site;
import org.jrsocket.interop.Traffic;

/**
 * A program's server and its client, each in a JVM with the agent, and what carried their bytes. The main class gets
 * {@code server ADDRESS}, and says {@code port=NUMBER} when clients may come; then {@code client ADDRESS PORT} in the
 * other JVM, which says {@code bytes=NUMBER}, what it sent and received, and ends with an exception if a check sum is
 * wrong.
 */
final class Conversation {

    private static final Duration LIMIT = Duration.ofMinutes(5);

    /** In a slow guest RDMA may need longer than it usually gets, and nothing is to fall back here. */
    private static final String PATIENT = "=connect.timeout=60s";

    private final Class<?> main;
    private final Path[] libraries;
    private String[] options = {};

    private Conversation(Class<?> main, Path[] libraries) {
        this.main = main;
        this.libraries = libraries;
    }

    /** @param libraries jars of {@code target/programs}, without the ending */
    static Conversation of(Class<?> main, String... libraries) {
        return new Conversation(
                main, Stream.of(libraries).map(Conversation::library).toArray(Path[]::new));
    }

    /** A jar of {@code target/programs}, without its ending. */
    static Path library(String name) {
        return Site.classes(Conversation.class)
                .resolve("../programs/" + name + ".jar")
                .normalize();
    }

    /** Of both JVMs. */
    Conversation options(String... more) {
        options = more;
        return this;
    }

    /** Runs both; every connection has to use RDMA where there is a device, and where there is none, TCP. */
    void expectTheBestTransportThatThereIs() throws Exception {
        if (!Site.hasRdma()) {
            Traffic before = Traffic.now();
            long bytes = converse();
            Traffic.now().since(before).assertIpCarried(bytes);
            return;
        }
        try (LabBytes delivered = LabBytes.count()) {
            Traffic before = Traffic.now();
            long bytes = converse();
            Traffic traffic = Traffic.now().since(before);
            System.out.printf(
                    "%s: %d bytes of data, %d delivered by RDMA, %d in IP packets%n",
                    main.getSimpleName(), bytes, delivered.delivered(), traffic.ipBytes());
            delivered.assertAtLeast(bytes);
            traffic.assertRdmaCarried(bytes);
        }
    }

    /** Returns the number of bytes. */
    private long converse() throws Exception {
        try (JvmProcess server = jvm("server", Site.address())) {
            String port =
                    server.awaitLine(Pattern.compile("^port=(\\d+)"), LIMIT).group(1);
            try (JvmProcess client = jvm("client", Site.address(), port)) {
                JvmProcess.Result result = client.await(LIMIT).expectSuccess();
                assertSaid(server.stop().err());
                assertSaid(result.err());
                return Long.parseLong(result.value("bytes"));
            }
        }
    }

    private JvmProcess jvm(String... arguments) throws IOException {
        JvmProcess.Builder builder =
                JvmProcess.running(main).classPath(libraries).agent(PATIENT);
        for (String option : options) {
            builder.option(option);
        }
        return builder.arguments((Object[]) arguments).start();
    }

    /**
     * With RDMA the agent has nothing to say: the first connection that falls back is warned of. Without, it says so
     * when the JVM starts.
     */
    private static void assertSaid(List<String> errors) {
        List<String> ours =
                errors.stream().filter(line -> line.contains("jrsocket")).toList();
        assertEquals(Site.hasRdma() ? 0 : 1, ours.size(), () -> String.join("\n", errors));
        assertTrue(Site.hasRdma() || ours.get(0).startsWith("jrsocket: TCP only: "), ours::toString);
    }
}
