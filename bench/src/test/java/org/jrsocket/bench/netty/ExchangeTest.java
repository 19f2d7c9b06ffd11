/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.netty;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The programs of {@code scripts/bench --netty} understand each other; here over TCP. */
class ExchangeTest {

    @ParameterizedTest
    @CsvSource({"netty, NIO", "netty, RDMA", "grpc, NIO", "grpc, RDMA"})
    void shouldAnswerEachCommandWithItsMeasurement(String framework, Transport transport) throws Exception {
        InetSocketAddress any = new InetSocketAddress("127.0.0.1", 0);
        InetSocketAddress server = new InetSocketAddress("127.0.0.1", Server.start(framework, transport, any));
        Exchange client = Exchange.with(framework, transport, server);
        for (String command : new String[] {"rtt 64 200 sleep", "rtt 65536 20 sleep"}) {
            String answer = Client.answer(client, command);
            assertTrue(answer.matches("ok p50=\\S+ mean=\\S+ p99=\\S+ min=\\S+ max=\\S+"), answer);
        }
        for (String command : new String[] {"stream 65536 40 65536 sleep", "stream 65536 40 65536 lend"}) {
            String answer = Client.answer(client, command);
            assertTrue(answer.matches("ok seconds=\\S+"), answer);
        }
    }
}
