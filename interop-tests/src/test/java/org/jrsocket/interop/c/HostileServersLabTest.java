/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.jrsocket.interop.c.JavaEnd.Api;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers on a real device that break the rules towards our clients. */
@Tag("lab")
@Tag("c")
@Tag("device")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class HostileServersLabTest extends HostileTests {

    @Override
    Meeting meet(Served ours, String lie) throws Exception {
        int port = Lab.port();
        Hostile hostile = Hostile.server(port, lie);
        try {
            JavaEnd.Connection connection = ours.java.connect(false, port);
            hostile.expect("connected");
            return new Meeting(hostile, connection);
        } catch (Throwable e) {
            hostile.close();
            throw e;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"nothing", "noise", "ring-past-the-end"})
    void shouldNotConnectToAServerThatSays(String lie) throws Exception {
        notConnect(lie);
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(
            strings = {
                "half-of-it",
                "version-2",
                "no-credits",
                "one-entry",
                "negative-entries",
                "table-at-the-end",
                "ring-of-4-gib"
            })
    void shouldNotConnectEitherToAServerThatSays(String lie) throws Exception {
        notConnect(lie);
    }

    private static void notConnect(String lie) throws Exception {
        Served ours = served(Api.STREAM);
        int port = Lab.port();
        try (Hostile hostile = Hostile.server(port, lie)) {
            String failure = ours.java.failure(ours.java.ask("connect", Lab.address(false), port));
            assertTrue(failure.contains("the peer answered, but not with rsocket v1"), failure);
            hostile.expect("refused RDMA_CM_EVENT_REJECTED");
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
}
