/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrsocket.interop.c.JavaEnd.Api;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers on a real device that break the rules towards our clients. */
@Tag("lab")
@Tag("c")
@Tag("device")
@Tag("long")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class HostileServersLabTest extends HostileTests {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "nothing",
                "half-of-it",
                "noise",
                "version-2",
                "no-credits",
                "one-entry",
                "negative-entries",
                "table-at-the-end",
                "ring-past-the-end",
                "ring-of-4-gib"
            })
    void shouldNotConnectToAServerThatSays(String lie) throws Exception {
        Served ours = served(Api.STREAM);
        int port = Lab.port();
        try (Hostile hostile = Hostile.server(port, lie)) {
            String failure = ours.java.failure(ours.java.ask("connect", Lab.address(false), port));
            assertTrue(failure.contains("the peer answered, but not with rsocket v1"), failure);
            hostile.expect("connected"); // as far as it can tell
            assertTrue(hostile.tell("end").startsWith("over"), hostile.program::toString);
        }
        ours.awaitFreed();
        ours.assertServes();
    }

    /** A refusal brings 148 bytes of private data. */
    @Test
    void shouldNotMindNoiseInARefusal() throws Exception {
        Served ours = served(Api.STREAM);
        int port = Lab.port();
        try (Hostile hostile = Hostile.server(port, "refusal")) {
            String failure = ours.java.failure(ours.java.ask("connect", Lab.address(false), port));
            assertTrue(failure.contains("Connection refused"), failure);
            hostile.expect("refused");
        }
        ours.awaitFreed();
        ours.assertServes();
    }

    @ParameterizedTest
    @ValueSource(strings = {"unknown-flags", "all-credits", "odd-ring", "no-ring"})
    void shouldUseAServerThatSays(String lie) throws Exception {
        Served ours = served(Api.STREAM);
        int port = Lab.port();
        try (Hostile hostile = Hostile.server(port, lie)) {
            JavaEnd.Connection connection = ours.java.connect(false, port);
            hostile.expect("connected");
            CompletableFuture<String> send = connection.send(1000, 7);
            if (lie.equals("no-ring")) {
                assertEquals("status 0", hostile.tell("grant mine mine 1000"));
            }
            assertEquals("status 0", hostile.tell("echo 1000"));
            assertEquals(ours.java.get(send), ours.java.get(connection.receive(1000)));
            connection.close();
        }
        ours.awaitFreed();
        ours.assertServes();
    }

    @ParameterizedTest
    @EnumSource(
            value = Violation.class,
            names = {
                "DATA_LONGER_THAN_ANNOUNCED",
                "DATA_BEYOND_WHAT_WAS_GRANTED",
                "OPERATION_5",
                "CREDITS_BEYOND_THE_WINDOW",
                "GRANT_PAST_THE_END_OF_MEMORY",
                "CONTROL_MESSAGE_WITH_PAYLOAD",
                "WRITE_WITH_NO_KEY",
                "READ_OF_THE_RING"
            })
    void shouldResetTheConnectionAfter(Violation violation) throws Exception {
        Served ours = served(Api.STREAM);
        int port = Lab.port();
        try (Hostile hostile = Hostile.server(port, "truth")) {
            JavaEnd.Connection connection = ours.java.connect(false, port);
            hostile.expect("connected");
            assertEquals("status 0", hostile.tell("data 5"));
            ours.java.get(connection.receive(5));
            violation.commit(hostile);
            String failure = ours.java.failure(connection.receiveAll());
            assertTrue(failure.contains("Connection reset"), failure);
            assertTrue(violation.isNamed(failure), failure);
            connection.close();
        }
        ours.awaitFreed();
        ours.assertServes();
    }

    @ParameterizedTest(name = "{0}, {1}")
    @CsvSource({"STREAM, truth", "STREAM, no-ring", "AGENT, truth"})
    void shouldFailReaderAndWriterWhenTheServerIsKilled(Api api, String lie) throws Exception {
        Served ours = served(api);
        int port = Lab.port();
        try (Hostile hostile = Hostile.server(port, lie)) {
            JavaEnd.Connection connection = ours.java.connect(false, port);
            hostile.expect("connected");
            CompletableFuture<String> read = connection.receiveAll();
            CompletableFuture<String> write = connection.send(10_000_000, 1);
            hostile.say("fill");
            hostile.program.kill();
            assertTrue(ours.java.failure(read).contains("Connection reset"));
            assertTrue(ours.java.failure(write).contains("SocketException"));
            connection.close();
        }
        ours.awaitFreed();
        ours.assertServes();
    }
}
