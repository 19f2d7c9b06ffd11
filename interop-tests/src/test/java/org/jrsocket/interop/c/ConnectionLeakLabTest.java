/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jrsocket.interop.LabBytes;
import org.jrsocket.interop.c.JavaEnd.Api;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Connections between two JVMs under the agent, opened, used and closed one after the other in every way; afterwards
 * neither process, nor the kernel for them, holds more than before. {@code -Djrsocket.leak.connections} says how many;
 * 10,000 take some minutes in the lab.
 */
@Tag("lab")
@Tag("c")
@Tag("device")
class ConnectionLeakLabTest {

    private static final int WARM_UP = 80;
    private static final int JVM_THREADS = 2; // compilers and collectors come and go
    // compiled code, mostly: 10,000 rings that stay behind would be 5 GB
    private static final long RESIDENT_MARGIN = 24 << 20;

    /** What a process holds. */
    private record Use(long descriptors, long threads, long pinned, long resident) {

        static Use of(Program program) throws IOException {
            Path process = Path.of("/proc", Long.toString(program.pid()));
            List<String> status = Files.readAllLines(process.resolve("status"));
            try (Stream<Path> descriptors = Files.list(process.resolve("fd"))) {
                return new Use(
                        descriptors.count(),
                        number(status, "Threads:"),
                        1024 * (number(status, "VmPin:") + number(status, "VmLck:")),
                        1024 * number(status, "VmRSS:"));
            }
        }

        private static long number(List<String> lines, String name) {
            return lines.stream()
                    .filter(line -> line.startsWith(name))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                    .sum();
        }
    }

    /** What both hold, and the kernel's count of RDMA objects. */
    private record State(String objects, Use client, Use server) {
        boolean holdsAsMuchAs(State other) {
            return objects.equals(other.objects)
                    && client.descriptors == other.client.descriptors
                    && server.descriptors == other.server.descriptors
                    && client.pinned == other.client.pinned
                    && server.pinned == other.server.pinned
                    && client.threads <= other.client.threads + JVM_THREADS
                    && server.threads <= other.server.threads + JVM_THREADS;
        }
    }

    private JavaEnd client;
    private JavaEnd server;

    @BeforeAll
    static void findLab() {
        Lab.assume();
    }

    @BeforeEach
    void start() throws IOException {
        client = new JavaEnd(Api.AGENT);
        server = new JavaEnd(Api.AGENT);
    }

    @AfterEach
    void end() {
        client.close();
        server.close();
    }

    @Test
    @Tag("long")
    @Timeout(value = 30, unit = TimeUnit.MINUTES)
    void shouldKeepNothingOfConnections() throws Exception {
        int connections = Integer.getInteger("jrsocket.leak.connections", 10_000);
        int port = server.listen(false);
        CompletableFuture<String> serving = server.ask("serve", port);
        LabBytes delivered = LabBytes.count();
        touch(port, WARM_UP);
        State before = settled(null);
        long start = System.nanoTime();
        touch(port, connections);
        System.out.printf("%d connections in %.1f s%n", connections, (System.nanoTime() - start) / 1e9);
        State after = settled(before);
        System.out.println(before + " before, " + after + " after");
        assertTrue(after.holdsAsMuchAs(before), () -> before + " before, " + after + " after");
        assertTrue(
                after.client.resident - before.client.resident < RESIDENT_MARGIN
                        && after.server.resident - before.server.resident < RESIDENT_MARGIN,
                () -> before + " before, " + after + " after");
        delivered.assertAtLeast(2L * connections);
        server.unlisten(port);
        serving.get(Lab.SOON.toSeconds(), TimeUnit.SECONDS);
    }

    private void touch(int port, int connections) throws Exception {
        assertEquals(
                Integer.toString(connections),
                client.ask("touch", Lab.address(false), port, connections).get(20, TimeUnit.MINUTES));
    }

    /**
     * Waits until nothing changes any more (what a connection leaves is kept some seconds), or until it is as before.
     */
    private State settled(State before) throws Exception {
        long deadline = System.nanoTime() + Duration.ofMinutes(2).toNanos();
        State last = null;
        int same = 0;
        for (; ; ) {
            client.get(client.ask("gc"));
            server.get(server.ask("gc"));
            State now = new State(Lab.rdmaObjects(), Use.of(client.program()), Use.of(server.program()));
            same = last != null && now.holdsAsMuchAs(last) ? same + 1 : 0;
            boolean settled = before == null ? same >= 15 : now.holdsAsMuchAs(before);
            if (settled || System.nanoTime() - deadline > 0) {
                return now;
            }
            last = now;
            TimeUnit.SECONDS.sleep(1);
        }
    }
}
