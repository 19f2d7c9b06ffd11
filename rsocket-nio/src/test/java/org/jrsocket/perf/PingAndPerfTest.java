/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jrsocket.connect.Policy;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Client and server of ping and perf over loopback verbs and over TCP. */
@Tag("slow")
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PingAndPerfTest {

    private static final long SOME_TIME = TimeUnit.MILLISECONDS.toNanos(200);

    private final ByteArrayOutputStream answer = new ByteArrayOutputStream();
    private final ByteArrayOutputStream progress = new ByteArrayOutputStream();
    private final ByteArrayOutputStream served = new ByteArrayOutputStream();
    private LoopbackProvider verbs;
    private RdmaTransport transport;
    private TransportHolder holder;
    private TransportContext context;
    private InetAddress address;

    @BeforeEach
    void open() throws Exception {
        verbs = new LoopbackProvider();
        transport = RdmaTransport.over(verbs);
        holder = TransportHolder.of(transport);
        // A busy machine is not a silent peer.
        Settings patient = Settings.read("connect.timeout=50s", new Properties(), Map.of());
        context = new TransportContext(patient, Rules.NONE, holder);
        address = InetAddress.getByName("127.0.0.1");
    }

    @AfterEach
    void close() {
        transport.close();
        verbs.close();
    }

    private Server server() throws IOException {
        return Server.open(context, address, 0, new PrintStream(served, true, StandardCharsets.UTF_8));
    }

    private Report report(Report.Format format) {
        return report(format, false);
    }

    private Report report(Report.Format format, boolean quiet) {
        return new Report(
                format,
                new PrintStream(answer, true, StandardCharsets.UTF_8),
                new PrintStream(progress, true, StandardCharsets.UTF_8),
                quiet);
    }

    private boolean ping(int port, Policy policy, Report.Format format) {
        return new Ping(context, policy, report(format)).run("peer", new InetSocketAddress(address, port), 3, 1, 64);
    }

    private boolean perf(int port, Policy policy, Report.Format format) {
        return new Perf(context, policy, report(format), "peer", new InetSocketAddress(address, port))
                .run(EnumSet.allOf(Perf.Measurement.class), SOME_TIME, 64, 4096);
    }

    private List<String> lines() {
        return answer.toString(StandardCharsets.UTF_8).lines().toList();
    }

    private void assertAnswered(String pattern) {
        String text = answer.toString(StandardCharsets.UTF_8);
        assertTrue(Pattern.compile(pattern, Pattern.MULTILINE).matcher(text).find(), text);
    }

    @Test
    void shouldPingAServerOverRdma() throws Exception {
        try (Server server = server()) {
            assertTrue(ping(server.port(), Policy.AUTO, Report.Format.TEXT));
        }
        String device = verbs.devices().get(0).name();
        assertTrue(
                lines().get(0)
                        .matches("peer: RDMA, device " + device + ", from 127.0.0.1; first connected in [0-9.]+ ms"),
                lines()::toString);
        assertAnswered("^connect +5 ");
        assertAnswered("^round trip, 64 B +3 ");
        assertEquals(
                3,
                progress.toString(StandardCharsets.UTF_8)
                        .lines()
                        .filter(line -> line.matches("64 bytes from peer over RDMA: seq=[123] time=.* us"))
                        .count());
        assertTrue(served.toString(StandardCharsets.UTF_8).contains("over RDMA and TCP"), served::toString);
    }

    @Test
    void shouldSayWhyAPingIsOverTcp() throws Exception {
        address = InetAddress.getByName("127.0.0.2");
        try (Server server = server()) {
            assertTrue(ping(server.port(), Policy.AUTO, Report.Format.TEXT));
        }
        assertTrue(lines().get(0).startsWith("peer: TCP, from 127.0.0."), lines()::toString);
        assertTrue(lines().get(0).contains("not RDMA: no RDMA device serves this address"), lines()::toString);
        assertAnswered("^round trip, 64 B +3 ");
        assertTrue(
                served.toString(StandardCharsets.UTF_8).contains("over TCP alone: no RDMA device serves this address"),
                served::toString);
    }

    @Test
    void shouldTimeConnectionsToAServerThatIsNotOurs() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, address)) {
            Thread silent = new Thread(() -> {
                try {
                    while (true) {
                        try (Socket accepted = server.accept()) {
                            accepted.getInputStream().read();
                        }
                    }
                } catch (IOException e) {
                    // closed
                }
            });
            silent.start();
            assertTrue(ping(server.getLocalPort(), Policy.AUTO, Report.Format.TEXT));
        }
        assertTrue(lines().get(0).contains("not RDMA: the peer refused RDMA"), lines()::toString);
        assertAnswered("^connect +3 ");
        assertTrue(
                progress.toString(StandardCharsets.UTF_8).contains("no greeting from a perf server"),
                progress::toString);
    }

    @Test
    void shouldFailToPingWhereNobodyListens() throws Exception {
        int port;
        try (ServerSocket gone = new ServerSocket(0, 1, address)) {
            port = gone.getLocalPort();
        }
        assertFalse(ping(port, Policy.AUTO, Report.Format.TEXT));
        assertEquals(List.of(), lines());
        String said = progress.toString(StandardCharsets.UTF_8);
        assertTrue(said.contains("RDMA: the peer refused RDMA") && said.contains("TCP: Connection refused"), said);
    }

    @Test
    void shouldSayWhatIsWrongThoughItIsToBeQuiet() throws Exception {
        int port;
        try (ServerSocket gone = new ServerSocket(0, 1, address)) {
            port = gone.getLocalPort();
        }
        InetSocketAddress nobody = new InetSocketAddress(address, port);
        assertFalse(new Ping(context, Policy.AUTO, report(Report.Format.JSON, true)).run("peer", nobody, 1, 1, 64));
        assertEquals(1, progress.toString(StandardCharsets.UTF_8).lines().count(), progress::toString);
    }

    @Test
    void shouldMeasureOverBothTransports() throws Exception {
        try (Server server = server()) {
            for (Policy policy : new Policy[] {Policy.RDMA, Policy.TCP}) {
                answer.reset();
                assertTrue(perf(server.port(), policy, Report.Format.TEXT), progress::toString);
                assertTrue(lines().get(0).startsWith("peer: " + policy), lines()::toString);
                assertAnswered("^round trip, 64 B +[1-9]");
                assertAnswered("^send, 4096 B +[0-9.]+ +(?!0\\.0 )[0-9]");
                assertAnswered("^receive, 4096 B +[0-9.]+ +(?!0\\.0 )[0-9]");
            }
        }
    }

    @Test
    void shouldNotTurnToTcpWhenAskedForRdma() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, address)) {
            assertFalse(perf(server.getLocalPort(), Policy.RDMA, Report.Format.TEXT));
        }
        assertTrue(
                progress.toString(StandardCharsets.UTF_8).contains("peer: no RDMA: the peer refused RDMA"),
                progress::toString);
    }

    @Test
    void shouldPrintJson() throws Exception {
        try (Server server = server()) {
            assertTrue(perf(server.port(), Policy.AUTO, Report.Format.JSON), progress::toString);
        }
        assertEquals(1, lines().size());
        String device = verbs.devices().get(0).name();
        assertAnswered("^\\{\"peer\":\"peer\",\"transport\":\"RDMA\",\"device\":\"" + device
                + "\",\"reason\":null,\"results\":\\["
                + "\\{\"test\":\"round trip\",.*\"count\":[1-9][0-9]*,.*\"p99.9_us\":[0-9.]+,.*\"mb_per_s\":null},"
                + "\\{\"test\":\"send\",.*\"mb_per_s\":[0-9.]+},\\{\"test\":\"receive\",.*\"mb_per_s\":[0-9.]+}]}$");
    }

    @Test
    void shouldPrintCsv() throws Exception {
        try (Server server = server()) {
            assertTrue(perf(server.port(), Policy.AUTO, Report.Format.CSV), progress::toString);
        }
        assertEquals(
                "test,transport,device,size,count,seconds,min_us,p50_us,p90_us,p99_us,p99.9_us,max_us,mean_us,mb_per_s",
                lines().get(0));
        assertEquals(
                List.of("round trip", "send", "receive"),
                lines().stream().skip(1).map(line -> line.split(",")[0]).toList());
        assertEquals(
                List.of(14, 14, 14),
                lines().stream().skip(1).map(line -> line.split(",", -1).length).toList());
    }

    @Test
    void shouldCloseAClientThatSpeaksSomethingElse() throws Exception {
        try (Server server = server();
                Socket stranger = new Socket(address, server.port())) {
            stranger.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            byte[] greeting = stranger.getInputStream().readNBytes(16);
            assertEquals("jrsocket-perf 1\n", new String(greeting, StandardCharsets.US_ASCII));
            try {
                assertEquals(-1, stranger.getInputStream().read());
            } catch (SocketException e) {
                // a reset, because not all of it was read
            }
        }
    }
}
