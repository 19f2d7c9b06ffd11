/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jrsocket.interop.JvmProcess;
import org.jrsocket.interop.Site;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A Kafka broker that is its own controller, a producer and a consumer. In the lab they take some minutes, most of them
 * to start.
 */
@Tag("lab")
@Tag("frameworks")
@Tag("long")
class KafkaLabTest {

    private static final int RECORDS = 2000;
    private static final int SIZE = 1000;

    @TempDir
    private Path folder;

    @Test
    void shouldProduceAndConsume() throws Exception {
        int port = freePort();
        String controller = Site.address() + ':' + freePort();
        Path settings = folder.resolve("server.properties");
        Files.write(
                settings,
                List.of(
                        "process.roles=broker,controller",
                        "node.id=1",
                        "listeners=PLAINTEXT://" + Site.address() + ':' + port + ",CONTROLLER://" + controller,
                        "controller.quorum.bootstrap.servers=" + controller,
                        "controller.listener.names=CONTROLLER",
                        "log.dirs=" + folder.resolve("logs"),
                        "offsets.topic.num.partitions=1",
                        "offsets.topic.replication.factor=1",
                        "share.coordinator.state.topic.replication.factor=1",
                        "transaction.state.log.replication.factor=1",
                        "group.initial.rebalance.delay.ms=0"));
        try (JvmProcess format = Programs.command(
                        "kafka",
                        "kafka.tools.StorageTool",
                        "format",
                        "--standalone",
                        "-t",
                        "x5gYtwJrSNyHfrGXiHl20A",
                        "-c",
                        settings)
                .start()) {
            format.await(Programs.START).expectSuccess();
        }
        try (JvmProcess broker =
                Programs.command("kafka", "kafka.Kafka", settings).start()) {
            try (Carried carried = Carried.fromNow()) {
                JvmProcess.Result client = Programs.run(
                        Programs.under(
                                "kafka", "Client", Site.address(), port, "test", RECORDS, SIZE, 0, System.nanoTime()),
                        broker);
                carried.assertBytes(Long.parseLong(client.value("bytes")));
            }
        }
    }

    private static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket()) {
            socket.bind(new InetSocketAddress(InetAddress.getByName(Site.address()), 0));
            return socket.getLocalPort();
        }
    }
}
