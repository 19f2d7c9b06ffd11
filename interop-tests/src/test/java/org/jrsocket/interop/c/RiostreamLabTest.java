/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrsocket.interop.c.JavaEnd.Api;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * rdma-core's riostream, which asks each peer for memory that it may write into. Ours offers none, so its first
 * {@code riomap} must fail with ENOMEM, it closes, and our end sees an ordinary end of the connection.
 */
@Tag("lab")
@Tag("c")
@Tag("device")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class RiostreamLabTest extends CPeerTests {

    @BeforeAll
    static void findRiostream() {
        Lab.assumeProgram("riostream");
    }

    @ParameterizedTest
    @EnumSource(names = {"STREAM", "AGENT"})
    void shouldRefuseMemoryToAClientAndSurvive(Api api) throws Exception {
        JavaEnd java = java(api);
        int port = java.listen(false);
        CompletableFuture<String> accepted = java.accept(port);
        try (Program riostream = Program.of(
                        "riostream", "-s", Lab.address(false), "-p", Integer.toString(port), "-S", "4096", "-T", "b")
                .start()) {
            judge(java, java.accepted(accepted), riostream);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"STREAM", "AGENT"})
    void shouldRefuseMemoryToAServerAndSurvive(Api api) throws Exception {
        JavaEnd java = java(api);
        int port = Lab.port();
        try (Program riostream = Program.of(
                        "riostream", "-b", Lab.address(false), "-p", Integer.toString(port), "-S", "4096", "-T", "b")
                .start()) {
            Lab.awaitListener(port, riostream);
            judge(java, java.connect(false, port), riostream);
        }
    }

    private void judge(JavaEnd java, JavaEnd.Connection connection, Program riostream) throws Exception {
        assertEquals("-1", java.get(connection.read()));
        Program.Result result = riostream.await(Lab.SOON);
        assertNotEquals(0, result.status(), result::toString);
        assertTrue(result.printed("riomap: Cannot allocate memory"), result::toString);
        java.get(connection.send(1, 0)); // in vain, as over TCP
        assertTrue(java.failure(connection.send(1, 0)).contains("Broken pipe"));
        connection.close();
        delivered.assertAtLeast(1); // messages of the connection manager are all there is
    }
}
