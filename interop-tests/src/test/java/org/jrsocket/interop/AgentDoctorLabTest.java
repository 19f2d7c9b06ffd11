/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code doctor}, {@code ping} and {@code perf} of the finished jar, as an operator runs them. */
@Tag("lab")
@Tag("commands")
class AgentDoctorLabTest {

    private static final Duration LIMIT = Duration.ofMinutes(3);

    /** Without the capability that lifts the limit; with it, root may lock what it likes. */
    private static final String[] MEMLOCK_64K = {
        "prlimit", "--memlock=65536:65536", "setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"
    };

    /** With more time for RDMA than a slow machine needs: how long that may take is not what is tested. */
    private static JvmProcess.Builder jar(String... arguments) {
        JvmProcess.Builder builder = JvmProcess.withArguments(
                        "-jar", Site.agentJar().toString())
                .arguments((Object[]) arguments)
                .property("org.jrsocket.connect.timeout", "60s");
        Site.commandArchiveOption().ifPresent(builder::option);
        return builder;
    }

    private static JvmProcess.Result run(JvmProcess.Builder builder) throws Exception {
        try (JvmProcess java = builder.start()) {
            return java.await(LIMIT);
        }
    }

    private static JvmProcess.Result doctor(int status, String... arguments) throws Exception {
        JvmProcess.Result result = run(jar("doctor").arguments((Object[]) arguments));
        assertEquals(status, result.status(), result::toString);
        return result;
    }

    private static String assertSaid(JvmProcess.Result result, String line) {
        return result.out().stream()
                .filter(one -> one.matches(line))
                .findFirst()
                .orElseThrow(() -> new AssertionError(line + " in\n" + result));
    }

    private static void assumeLab() {
        assumeTrue(Site.hasRdma(), "needs an RDMA device: runs in the lab");
    }

    @Test
    void shouldSayWhatThisHostHas() throws Exception {
        JvmProcess.Result result = doctor(Site.hasRdma() ? 0 : 1);
        if (Site.hasRdma()) {
            assertSaid(result, "verbs: rdma-core \\(librdmacm [0-9.]+, libibverbs [0-9.]+\\)");
            assertSaid(result, "device rxe0: InfiniBand or RoCE.*");
            assertSaid(result, "  port 1: active, Ethernet, MTU [0-9]+");
            assertSaid(result, "    gid [0-9]+: " + Pattern.quote(System.getenv("ROCE_LAB_ADDR")) + ", RoCE v2");
            assertSaid(result, "  a connection's queue pair: 63 sends, 255 receives, [0-9]+ bytes inline");
            assertSaid(result, "RDMA: can be used");
            assertSaid(result, "locked memory: unlimited");
            assertSaid(result, "a server here listens over RDMA and TCP");
        } else {
            assertSaid(result, "RDMA: cannot be used: no RDMA device on this host: .*modprobe rdma_rxe.*");
            assertSaid(result, "a server here listens over TCP alone: .*");
        }
        assertEquals(List.of(), result.err());
    }

    @Test
    void shouldSayThatThereIsNoDevice() throws Exception {
        assumeLab();
        JvmProcess.Result result = run(jar("doctor").under("ip", "netns", "exec", System.getenv("ROCE_LAB_TCP_NETNS")));
        assertEquals(1, result.status(), result::toString);
        assertSaid(
                result,
                "RDMA: cannot be used: no RDMA device in /sys/class/infiniband, although there is"
                        + " /dev/infiniband/uverbs0: it is in another network namespace .*");
    }

    @Test
    void shouldSayThatTooLittleMemoryMayBeLocked() throws Exception {
        assumeLab();
        JvmProcess.Result result = run(jar("doctor").under(MEMLOCK_64K));
        assertEquals(1, result.status(), result::toString);
        assertSaid(
                result,
                "RDMA: cannot be used: this process may not lock 1 MiB of memory"
                        + " \\(ulimit -l is 64 KiB\\): raise it .*");
        assertSaid(
                result, "locked memory: 64 KiB, for 2 idle connections of 32 KiB, or 0 that .*; more: ulimit -l, .*");
        JvmProcess.Result agent =
                run(JvmProcess.withArguments("-version").agent().under(MEMLOCK_64K));
        assertEquals(0, agent.status(), agent::toString);
        assertEquals(
                1,
                agent.err().stream()
                        .filter(line -> line.startsWith("jrsocket: TCP only: this process may not lock"))
                        .count(),
                agent::toString);
    }

    @Test
    void shouldTellApartWhoAnswersOverWhat() throws Exception {
        String address = Site.address();
        String peer;
        try (ServerSocket tcpAlone = new ServerSocket(0, 5, InetAddress.getByName(address))) {
            peer = address + ':' + tcpAlone.getLocalPort();
            JvmProcess.Result refused = doctor(1, peer);
            assertSaid(
                    refused,
                    Pattern.quote(peer)
                            + (Site.hasRdma()
                                    ? ": not RDMA: the peer refused RDMA \\(Connection refused, no RDMA listener"
                                            + " there: .*"
                                    : ": not RDMA: RDMA is not available \\(no RDMA device on this host: .*"));
            assertSaid(refused, Pattern.quote(peer) + ": TCP, connected in [0-9.]+ ms");
        }
        JvmProcess.Result nobody = doctor(3, peer);
        assertSaid(nobody, Pattern.quote(peer) + ": not reachable over TCP either: Connection refused.*");
    }

    @Test
    void shouldSayThatAHostHasNoRdma() throws Exception {
        assumeLab();
        String host = System.getenv("ROCE_LAB_TCP_ADDR");
        try (JvmProcess server = jar("perf", "server", "--port", "0", "--bind", host)
                .under("ip", "netns", "exec", System.getenv("ROCE_LAB_TCP_NETNS"))
                .start()) {
            Matcher listening = server.awaitLine(
                    Pattern.compile(
                            "listening on port (\\d+) of \\S+ over TCP alone: no RDMA device in /sys/class/infiniband"),
                    LIMIT);
            String peer = host + ':' + listening.group(1);
            // However long it waits, nobody answers.
            JvmProcess.Result result = run(jar("doctor", peer).property("org.jrsocket.connect.timeout", "2s"));
            assertEquals(1, result.status(), result::toString);
            String why = assertSaid(result, Pattern.quote(peer) + ": not RDMA: .*");
            assertTrue(
                    why.matches(".*: not RDMA: (the peer did not answer over RDMA|"
                            + "the address or route does not resolve over RDMA).*"),
                    why);
            assertSaid(result, Pattern.quote(peer) + ": TCP, connected in [0-9.]+ ms");
        }
    }

    @Test
    void shouldConnectPingAndMeasureOverTheBestTransportThatThereIs() throws Exception {
        String address = Site.address();
        String transport = Site.hasRdma() ? "RDMA" : "TCP";
        try (JvmProcess server =
                jar("perf", "server", "--port", "0", "--bind", address).start()) {
            Matcher listening = server.awaitLine(
                    Pattern.compile("listening on port (\\d+) of \\S+ over (RDMA and TCP|TCP alone)"), LIMIT);
            assertEquals(Site.hasRdma() ? "RDMA and TCP" : "TCP alone", listening.group(2));
            String peer = address + ':' + listening.group(1);

            JvmProcess.Result connected = doctor(Site.hasRdma() ? 0 : 1, peer);
            assertSaid(
                    connected,
                    Pattern.quote(peer)
                            + (Site.hasRdma()
                                    ? ": RDMA, device rxe0, from .*, connected in [0-9.]+ ms"
                                    : ": TCP, connected in .*"));

            JvmProcess.Result pings =
                    run(jar("ping", "-c", "3", "-i", "0.1", peer)).expectSuccess();
            assertSaid(pings, Pattern.quote(peer) + ": " + transport + ", .*");
            assertSaid(pings, "connect +5 .*");
            assertSaid(pings, "round trip, 64 B +3 .*");
            assertEquals(
                    3,
                    pings.err().stream()
                            .filter(line -> line.startsWith("64 bytes from " + peer + " over " + transport + ": seq="))
                            .count(),
                    pings::toString);

            Traffic before = Traffic.now();
            JvmProcess.Result measured =
                    run(jar("perf", "-t", "1", "-f", "csv", peer)).expectSuccess();
            Traffic traffic = Traffic.now().since(before);
            assertEquals(4, measured.out().size(), measured::toString);
            long bytes = 0;
            for (String line : measured.out().subList(1, 4)) {
                String[] fields = line.split(",");
                assertEquals(transport, fields[1], line);
                bytes += Long.parseLong(fields[3]) * Long.parseLong(fields[4]);
            }
            assertTrue(bytes > 0, measured::toString);
            if (Site.hasRdma()) {
                traffic.assertRdmaCarried(bytes);
            } else {
                traffic.assertIpCarried(bytes);
            }
        }
    }

    @Test
    void shouldPrintWhatWasMeasuredWhenItIsEnded() throws Exception {
        String address = Site.address();
        try (JvmProcess server =
                jar("perf", "server", "--port", "0", "--bind", address).start()) {
            String port = server.awaitLine(Pattern.compile("listening on port (\\d+)"), LIMIT)
                    .group(1);
            try (JvmProcess client = jar("perf", "-t", "3600", "--tests", "latency", address + ':' + port)
                    .start()) {
                client.awaitError(Pattern.compile("round trip +[0-9.]+ s +[1-9]"), LIMIT);
                client.signal("TERM"); // as Ctrl-C, which a program that was started in the background ignores
                JvmProcess.Result result = client.await(LIMIT);
                assertEquals(128 + 15, result.status(), result::toString);
                assertSaid(result, "round trip, 64 B +[1-9].*");
            }
        }
    }
}
