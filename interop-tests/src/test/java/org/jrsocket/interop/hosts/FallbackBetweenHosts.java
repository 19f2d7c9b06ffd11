/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.hosts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import org.jrsocket.interop.JvmProcess;
import org.jrsocket.interop.LabBytes;
import org.jrsocket.interop.Traffic;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * On host b of {@code scripts/roce-lab hosts}, with {@link FarHost} on host a. Not a name that Maven looks for: it has
 * no two hosts.
 */
@Tag("hosts")
class FallbackBetweenHosts {

    private static final Duration LIMIT = Duration.ofMinutes(4);

    /**
     * RDMA's head start, 100 ms, and a generous allowance for a slow guest: without a limit an attempt takes a minute.
     */
    private static final long BUDGET_MICROS = 20_000_000;

    /** For what has to use RDMA, however slow the guest is. */
    private static final String PATIENT = "=connect.timeout=60s";

    private static final int ROUNDS = 8;
    private static final int EACH = 25;
    /**
     * Attempts while the rounds last, which is some minutes at most: a silent host is asked again after 10 s, 30 s, 70
     * s, ...
     */
    private static final int MOST_ATTEMPTS = 7;

    private static final int MEBIBYTE = 1 << 20;

    private static FarEnd far;

    @BeforeAll
    static void findFarEnd() throws Exception {
        Assumptions.assumeTrue(System.getenv("ROCE_LAB_PEER") != null, "needs two hosts (scripts/test hosts)");
        far = FarEnd.ofAllTests();
    }

    @AfterEach
    void stopServers() throws IOException {
        far.stop();
        far.run("lab-link clear");
    }

    // ---- who meets whom ----

    @Test
    void shouldUseRdmaWhereBothHaveTheAgent() throws Exception {
        try (LabBytes delivered = LabBytes.count();
                JvmProcess client = client(PATIENT, 3, MEBIBYTE, 0)) {
            serve(true, client);
            assertEquals(List.of(), client.await(LIMIT).expectSuccess().err());
            delivered.assertAtLeast(3L * MEBIBYTE); // IP's counters tell nothing here: RoCEv2 between hosts is UDP
        }
    }

    @Test
    void shouldServeAClientWithoutTheAgent() throws Exception {
        try (LabBytes delivered = LabBytes.count();
                JvmProcess client = client(null, 3, MEBIBYTE, 0)) {
            Traffic before = Traffic.now();
            serve(true, client);
            client.await(LIMIT).expectSuccess();
            Traffic.now().since(before).assertIpCarried(3L * MEBIBYTE);
            delivered.assertLessThan(MEBIBYTE);
        }
    }

    @Test
    void shouldServeBothKindsAtOnceOnOnePort() throws Exception {
        try (LabBytes delivered = LabBytes.count();
                JvmProcess with = client(PATIENT, 10, MEBIBYTE / 4, 20);
                JvmProcess without = client(null, 10, MEBIBYTE / 4, 20)) {
            serve(true, with, without);
            JvmProcess.Result first = with.await(LIMIT).expectSuccess();
            JvmProcess.Result second = without.await(LIMIT).expectSuccess();
            assertEquals(List.of(), first.err());
            assertEquals(10, first.values("connect").count(), first::toString);
            assertEquals(10, second.values("connect").count(), second::toString);
            delivered.assertAtLeast(10L * MEBIBYTE / 4);
            delivered.assertLessThan(15L * MEBIBYTE / 4); // the other ten went over TCP
        }
    }

    // ---- what it costs to find out ----

    @Test
    void shouldReachAServerWithoutTheAgentAtTheSpeedOfTcp() throws Exception {
        // A slow guest's first answer may come after the head start. Then it would be no refusal.
        assertOnlyTheFirstPays(
                clients -> serve(false, clients), PATIENT + ",memory.rejected=1h", "REFUSED", "the peer refused RDMA");
    }

    @Test
    void shouldReachAServerBehindAPacketFilterAtTheSpeedOfTcp() throws Exception {
        far.run("lab-link no-roce");
        assertOnlyTheFirstPays(
                clients -> serve(true, clients),
                "=memory.rejected=1h",
                "TIMEOUT",
                "the peer did not answer over RDMA in time");
    }

    @Test
    void shouldUseRdmaAgainWhenAHostHasIt() throws Exception {
        far.run("rdma link delete rxe0");
        try (JvmProcess client = client("=log=debug,memory.unanswered=3s,memory.rejected=3s", 10_000, 1000, 300)) {
            int port = serve(false, client);
            client.awaitError(
                    Pattern.compile("connected to .* over TCP, not RDMA: the peer did not answer over RDMA in time"),
                    LIMIT);
            client.awaitError(Pattern.compile("over TCP: RDMA to this peer failed a short while ago"), LIMIT);
            far.run("rdma link add rxe0 type rxe netdev eth0");
            far.stop();
            try (LabBytes delivered = LabBytes.count()) {
                far.serve(true, port);
                client.awaitError(Pattern.compile("connected to .* over RDMA, device rxe0"), LIMIT);
                delivered.awaitAtLeast(5 * 1000, LIMIT);
            }
        } finally {
            if (far.run("rdma link").isEmpty()) {
                far.run("rdma link add rxe0 type rxe netdev eth0");
            }
        }
    }

    @Test
    void shouldUseRdmaOfAServerThatWasThereBeforeItsDevice() throws Exception {
        far.run("rdma link delete rxe0");
        try (JvmProcess client = client("=log=debug,memory.unanswered=3s,memory.rejected=3s", 10_000, 1000, 300)) {
            int port = far.serve(Server.class, "=device.late=on", far.address(), 0);
            client.tell(Integer.toString(port));
            client.awaitError(
                    Pattern.compile("connected to .* over TCP, not RDMA: the peer did not answer over RDMA in time"),
                    LIMIT);
            far.run("rdma link add rxe0 type rxe netdev eth0");
            try (LabBytes delivered = LabBytes.count()) {
                client.awaitError(Pattern.compile("connected to .* over RDMA, device rxe0"), LIMIT);
                delivered.awaitAtLeast(5 * 1000, LIMIT);
            }
        } finally {
            if (far.run("rdma link").isEmpty()) {
                far.run("rdma link add rxe0 type rxe netdev eth0");
            }
        }
    }

    /**
     * RDMA may take its head start once, and a few times more as time passes; otherwise it is not tried, by the
     * client's own count and by what its device sends, so a connection should take less than twice the time that it
     * takes without the agent. Two clients take turns, round by round, and what the rounds after the first half took is
     * printed and not judged: what else the guest's host does is not ours.
     */
    private static void assertOnlyTheFirstPays(Serving serving, String settings, String reason, String told)
            throws Exception {
        try (JvmProcess plain = timed(null);
                JvmProcess with = timed(settings);
                LabBytes delivered = LabBytes.count()) {
            serving.start(plain, with);
            long packets = packetsSent();
            long first = round(with, 1, 1) - round(plain, 1, 1); // what classes cost that are loaded then, both pay
            List<Long> plainMedians = new ArrayList<>();
            List<Long> medians = new ArrayList<>();
            List<Double> ratios = new ArrayList<>();
            for (int i = 0; i < ROUNDS; i++) {
                long one = round(plain, EACH, i + 2);
                long other = round(with, EACH, i + 2);
                if (i >= ROUNDS / 2) {
                    plainMedians.add(one);
                    medians.add(other);
                    ratios.add((double) other / one);
                }
            }
            long sent = packetsSent() - packets;
            with.tellNoMore();
            JvmProcess.Result result = with.await(LIMIT).expectSuccess();
            System.out.printf(
                    "%s: the first connection took %d us more than without the agent; then %d us to %d us"
                            + " (medians of the medians of %d rounds of %d),"
                            + " %.2f times (target 2; %.2f to %.2f); the RDMA device sent %d packets%n",
                    reason,
                    first,
                    median(medians),
                    median(plainMedians),
                    ratios.size(),
                    EACH,
                    median(ratios),
                    Collections.min(ratios),
                    Collections.max(ratios),
                    sent);
            assertTrue(first < BUDGET_MICROS, () -> "the first connection took " + first + " us more");
            int attempts = Integer.parseInt(result.value("chosen." + reason));
            assertTrue(attempts >= 1 && attempts <= MOST_ATTEMPTS, result::toString);
            int remembered = Integer.parseInt(result.value("chosen.REMEMBERED"));
            assertEquals(1 + ROUNDS * EACH, attempts + remembered, result::toString);
            assertEquals(
                    1,
                    result.err().stream()
                            .filter(line -> line.contains("over TCP, not RDMA: " + told))
                            .count(),
                    result::toString);
            assertTrue(sent < ROUNDS * EACH / 4, () -> "the RDMA device sent " + sent + " packets for one attempt");
            delivered.assertLessThan(ROUNDS * EACH * 1000L / 4);
        }
    }

    private interface Serving {
        void start(JvmProcess... clients) throws IOException;
    }

    /** Starts a server there while the clients, which have been started, start; tells them its port. */
    private static int serve(boolean agent, JvmProcess... clients) throws IOException {
        int port = far.serve(agent, 0);
        for (JvmProcess client : clients) {
            client.tell(Integer.toString(port));
        }
        return port;
    }

    private static JvmProcess timed(String agent) throws IOException {
        JvmProcess.Builder builder = JvmProcess.running(TimedClient.class).listening();
        return (agent == null ? builder : builder.agent(agent))
                .arguments(far.address())
                .start();
    }

    /** @return the median of its connections, in microseconds */
    private static long round(JvmProcess client, int connections, int round) throws IOException, InterruptedException {
        client.tell(Integer.toString(connections));
        return Long.parseLong(client.awaitLine(Pattern.compile("^round=" + round + " median=(\\d+)$"), LIMIT)
                .group(1));
    }

    private static <T extends Comparable<T>> T median(List<T> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }

    private static long packetsSent() throws IOException {
        return Long.parseLong(Files.readString(Path.of("/sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts"))
                .strip());
    }

    /** @param agent its arguments, or null for none of it */
    private static JvmProcess client(String agent, int count, int bytes, int pause) throws IOException {
        JvmProcess.Builder builder = JvmProcess.running(Client.class).listening();
        return (agent == null ? builder : builder.agent(agent))
                .arguments(far.address(), count, bytes, pause)
                .start();
    }
}
