/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.jrsocket.stream.RdmaListener.Patience.Next.GIVE_UP;
import static org.jrsocket.stream.RdmaListener.Patience.Next.NOT_NOW;
import static org.jrsocket.stream.RdmaListener.Patience.Next.TRY;
import static org.jrsocket.stream.RdmaListener.Patience.Next.TRY_RARELY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What becomes of a listener whose port somebody else has over RDMA. */
class PortPatienceTest {

    private static final int SERVICE = 7000;
    private static final int OUTGOING = 40_000;
    private static final String RANGE = "32768\t60999";

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);

    private PortPatience patience(int port, boolean shared, String range, String... rules) throws Exception {
        TransportContext context = new TransportContext(
                Settings.read("policy=auto", new Properties(), Map.of()),
                rules.length == 0 ? Rules.NONE : RulesFile.parse("rules", List.of(rules)),
                new FakeRdma());
        return new PortPatience(context, new InetSocketAddress("127.0.0.1", port), shared, now::get, () -> range);
    }

    /** Who has it may be ending; later it is some server's for good. */
    @Test
    void shouldWaitAMinuteForAPortThatNoOutgoingConnectionHas() throws Exception {
        PortPatience patience = patience(SERVICE, false, RANGE);
        assertEquals(TRY, patience.next());
        now.addAndGet(TimeUnit.MINUTES.toNanos(1));
        assertEquals(TRY, patience.next());
        now.incrementAndGet();
        assertEquals(GIVE_UP, patience.next());
    }

    /** It has the port by chance, and gives it back some day. */
    @Test
    void shouldWaitOnForAPortThatAnOutgoingConnectionMayHaveAndSaySoOnce() throws Exception {
        PortPatience patience = patience(OUTGOING, false, RANGE);
        assertEquals(TRY, patience.next());
        PrintStream before = System.err;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
        try {
            now.addAndGet(TimeUnit.MINUTES.toNanos(1) + 1);
            assertEquals(TRY_RARELY, patience.next());
            now.addAndGet(TimeUnit.DAYS.toNanos(365));
            assertEquals(TRY_RARELY, patience.next());
        } finally {
            System.setErr(before);
        }
        List<String> warnings = said.toString(StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.contains(" WARN "))
                .toList();
        assertEquals(1, warnings.size(), warnings::toString);
        assertTrue(warnings.get(0).contains("/127.0.0.1:40000 over TCP alone"), warnings::toString);
    }

    @ParameterizedTest
    @CsvSource({
        "10000 20000, 9999, GIVE_UP",
        "10000 20000, 10000, TRY_RARELY",
        "10000 20000, 20000, TRY_RARELY",
        "10000 20000, 20001, GIVE_UP",
        "'', 32767, GIVE_UP",
        "'', 32768, TRY_RARELY",
        "'', 60999, TRY_RARELY",
        "'', 61000, GIVE_UP",
        "what ever, 32768, TRY_RARELY"
    })
    void shouldKnowThePortsOfOutgoingConnections(String range, int port, String next) throws Exception {
        PortPatience patience = patience(port, false, range);
        now.addAndGet(TimeUnit.HOURS.toNanos(1));
        assertEquals(next, patience.next().name());
    }

    @Test
    void shouldWaitForASharedPortForEver() throws Exception {
        PortPatience patience = patience(SERVICE, true, RANGE);
        now.addAndGet(TimeUnit.DAYS.toNanos(365));
        assertEquals(TRY, patience.next());
    }

    @Test
    void shouldLeaveAPortAloneWhileTheRulesSayTcp() throws Exception {
        PortPatience service = patience(SERVICE, false, RANGE, "bind * * tcp");
        PortPatience outgoing = patience(OUTGOING, false, RANGE, "bind * * tcp");
        assertEquals(NOT_NOW, service.next());
        now.addAndGet(TimeUnit.HOURS.toNanos(1));
        assertEquals(GIVE_UP, service.next());
        assertEquals(NOT_NOW, outgoing.next());
    }
}
