/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jrsocket.interop.JvmProcess;
import org.jrsocket.interop.Site;

/**
 * Somebody else's program, of which a server and a client run. Clients verify every byte, print {@code verified=} with
 * the number of these each time they have, and say ALTERED if one is wrong or missing.
 *
 * @param port the server's
 * @param server main class and arguments, after options of its JVM
 * @param client the same, options too, in which UNIQUE and SECONDS stand for a word and for how long it works
 */
record Application(String name, int port, String classPath, String server, String client) {

    private static final int CONTROLLER = 7104;

    private static final Path TARGET =
            Site.classes(Application.class).resolve("..").normalize();
    private static final String FRAMEWORKS = "org.jrsocket.interop.frameworks.";

    /** How long a client works. */
    private static final int SECONDS = 10;

    static Application h2(String address) {
        return new Application(
                "H2",
                7101,
                TARGET.resolve("programs/h2.jar").toString(),
                // listen there, and do not look up this host's name
                "-Xmx160m -Dh2.bindAddress=" + address + " -Dh2.localAddress=" + address
                        + " org.h2.tools.Server -tcp -tcpPort 7101 -tcpAllowOthers -ifNotExists",
                // by itself it gives a connection two seconds, of which TCP gets what RDMA leaves
                "-Dh2.socketConnectTimeout=30000 " + RowsLoad.class.getName() + " jdbc:h2:tcp://" + address
                        + ":7101/mem:UNIQUE SECONDS");
    }

    static Application grpc(String address) {
        return new Application(
                "gRPC",
                7102,
                classPath("grpc"),
                "-Xmx160m " + FRAMEWORKS + "grpc.BlobServer " + address + " 7102",
                FRAMEWORKS + "grpc.BlobLoad " + address + " 7102 SECONDS");
    }

    /** A broker that is its own controller; the connections of these two are the host's own. */
    static Application kafka(String address, Path settings) throws IOException {
        Files.write(
                settings,
                List.of(
                        "process.roles=broker,controller",
                        "node.id=1",
                        "listeners=PLAINTEXT://" + address + ":7103,CONTROLLER://127.0.0.1:" + CONTROLLER,
                        "controller.quorum.bootstrap.servers=127.0.0.1:" + CONTROLLER,
                        "controller.listener.names=CONTROLLER",
                        "log.dirs=/tmp/kafka", // in the host's memory: clients delete their topics
                        "offsets.topic.num.partitions=1",
                        "offsets.topic.replication.factor=1",
                        "share.coordinator.state.topic.replication.factor=1",
                        "transaction.state.log.replication.factor=1",
                        "group.initial.rebalance.delay.ms=0"));
        return new Application(
                "Kafka",
                7103,
                classPath("kafka"),
                "-Xmx320m kafka.Kafka " + settings,
                FRAMEWORKS + "kafka.Client " + address + " 7103 UNIQUE 100 1000 SECONDS");
    }

    private static String classPath(String framework) {
        Path target = TARGET.resolve("../frameworks").resolve(framework).resolve("target");
        return target.resolve("classes").normalize()
                + ":"
                + target.resolve("libraries/*").normalize();
    }

    private static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java") + " " + Site.labOptions();
    }

    /** Starts the server, under the agent. */
    String serverCommand() {
        String archive = Site.archiveOption().map(option -> " " + option).orElse("");
        return java() + archive + " -javaagent:" + Site.agentJar() + TwoHosts.AGENT + " -cp " + classPath + ' '
                + server;
    }

    /** Another program of the server's, not under the agent. */
    String command(String main) {
        return java() + " -cp " + classPath + ' ' + main;
    }

    /** A client on this host, under the agent. */
    JvmProcess startClient() throws IOException {
        long unique = System.nanoTime();
        List<String> words = new ArrayList<>(List.of(client.replace("UNIQUE", "u" + unique)
                .replace("SECONDS", Integer.toString(SECONDS))
                .split(" ")));
        words.add(Long.toString(unique)); // its seed
        return JvmProcess.withArguments(words.toArray(String[]::new))
                .classPath(Path.of(classPath), Site.classes(RowsLoad.class))
                .agent(TwoHosts.AGENT)
                .start();
    }
}
