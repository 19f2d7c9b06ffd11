/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jrsocket.interop.JvmProcess;
import org.jrsocket.interop.Site;
import org.jrsocket.interop.Traffic;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * PostgreSQL's JDBC driver under the agent, and a PostgreSQL server as Debian packages it, which has no RDMA: TCP
 * carries the connection.
 */
@Tag("lab")
@Tag("programs")
class PostgresLabTest {

    private static final Duration LIMIT = Duration.ofMinutes(5);

    @TempDir
    private Path folder;

    private Process server;
    private int port;

    @BeforeEach
    void startServer() throws Exception {
        Path programs = programs();
        Path data = folder.resolve("data");
        Files.createDirectory(data);
        if (isRoot()) { // who is not allowed to run it
            run(List.of("chown", "nobody", folder.toString(), data.toString()));
        }
        run(asNobody(
                programs.resolve("initdb").toString(),
                "-D",
                data.toString(),
                "-A",
                "trust",
                "-U",
                "test",
                "-N",
                "--locale=C",
                "-E",
                "UTF8",
                "--no-instructions"));
        Files.writeString(data.resolve("pg_hba.conf"), "host all all all trust\n", StandardOpenOption.APPEND);
        start(programs, data);
        for (int again = 0; !ready(); again++) { // somebody else took the port
            assertTrue(again < 5, this::log);
            Files.delete(folder.resolve("log"));
            start(programs, data);
        }
    }

    private void start(Path programs, Path data) throws IOException {
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        server = start(asNobody(
                programs.resolve("postgres").toString(),
                "-D",
                data.toString(),
                "-h",
                Site.address(),
                "-p",
                Integer.toString(port),
                "-k",
                data.toString(),
                "-F",
                "-c",
                "shared_buffers=16MB"));
    }

    /** Waits for the server; false if its port was taken. */
    private boolean ready() throws InterruptedException {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (!log().contains("ready to accept connections")) {
            boolean ended = !server.isAlive();
            if (ended && log().contains("could not bind")) {
                return false;
            }
            assertTrue(!ended && System.nanoTime() - deadline < 0, this::log);
            TimeUnit.MILLISECONDS.sleep(100);
        }
        return true;
    }

    @AfterEach
    void stopServer() throws InterruptedException {
        if (server != null) {
            server.destroy();
            if (!server.waitFor(1, TimeUnit.MINUTES)) {
                server.destroyForcibly();
                throw new AssertionError("the server does not stop: " + log());
            }
        }
    }

    @Test
    void shouldServeTheDriverOverTcp() throws Exception {
        Traffic before = Traffic.now();
        try (JvmProcess client = JvmProcess.running(PostgresLoad.class)
                .classPath(Conversation.library("postgresql"))
                .agent()
                .arguments("jdbc:postgresql://" + Site.address() + ':' + port + "/postgres?user=test")
                .start()) {
            JvmProcess.Result result = client.await(LIMIT).expectSuccess();
            Traffic.now().since(before).assertIpCarried(Long.parseLong(result.value("bytes")));
            List<String> said = result.err().stream()
                    .filter(line -> line.contains("jrsocket"))
                    .toList();
            assertEquals(1, said.size(), result::toString);
            assertTrue(
                    said.get(0)
                            .contains(
                                    Site.hasRdma()
                                            ? "over TCP, not RDMA: the peer refused RDMA"
                                            : "jrsocket: TCP only: "),
                    said::toString);
        }
    }

    private static Path programs() throws IOException {
        Path versions = Path.of("/usr/lib/postgresql");
        if (Files.isDirectory(versions)) {
            try (Stream<Path> found = Files.list(versions)) {
                return found.map(version -> version.resolve("bin"))
                        .filter(bin -> Files.isExecutable(bin.resolve("initdb")))
                        .max(Path::compareTo)
                        .orElseGet(() -> Assumptions.abort(
                                "no PostgreSQL server in " + versions + " (scripts/install-deps test)"));
            }
        }
        return Assumptions.abort("no PostgreSQL server in " + versions + " (scripts/install-deps test)");
    }

    private static boolean isRoot() {
        return System.getProperty("user.name").equals("root");
    }

    private static List<String> asNobody(String... command) {
        List<String> line = new ArrayList<>(
                isRoot() ? List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups") : List.of());
        line.addAll(List.of(command));
        return line;
    }

    private Process start(List<String> command) throws IOException {
        return new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(
                        ProcessBuilder.Redirect.appendTo(folder.resolve("log").toFile()))
                .start();
    }

    private void run(List<String> command) throws Exception {
        Process process = start(command);
        assertTrue(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS), () -> command + " ends; " + log());
        assertEquals(0, process.exitValue(), this::log);
    }

    private String log() {
        try {
            return Files.readString(folder.resolve("log"));
        } catch (IOException e) {
            return e.toString();
        }
    }
}
