/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jrsocket.HopelessError;
import org.jrsocket.connect.GidTables.Local;
import org.jrsocket.stream.PendingConnect.Answer;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.stream.StreamConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Over which device a connection leaves where there are several. */
@Timeout(60)
class WaysTest {

    private static final InetSocketAddress PEER = new InetSocketAddress("10.1.0.9", 80);
    private static final InetSocketAddress FAR = new InetSocketAddress("10.3.0.9", 80);

    private final FakeRdma rdma = new FakeRdma();
    private final List<Local> locals = new ArrayList<>();
    private final AtomicLong now = new AtomicLong();
    private int readings;

    WaysTest() throws IOException {
        locals.add(local("mlx5_0", "10.1.0.1", 24));
        locals.add(local("mlx5_0", "fd00::1", 64));
        locals.add(local("mlx5_1", "10.1.0.2", 24));
        locals.add(local("mlx5_1", "10.1.0.22", 24));
        locals.add(local("mlx5_2", "10.2.0.1", 24));
    }

    private static Local local(String device, String address, int length) throws IOException {
        InetAddress parsed = InetAddress.getByName(address);
        return new Local(device, parsed, new LocalNetworks.Prefix(parsed.getAddress(), length));
    }

    private TransportContext context(String settings, String... rules) throws ConfigurationException {
        return new TransportContext(
                Settings.read(settings, new Properties(), Map.of()),
                rules.length == 0 ? Rules.NONE : RulesFile.parse("rules", List.of(rules)),
                rdma,
                new Adapters(
                        () -> {
                            readings++;
                            return locals;
                        },
                        now::get));
    }

    /** Makes one connection, for which RDMA does not answer; TCP then connects. @return from where RDMA was tried */
    private String from(TransportContext context, InetSocketAddress local, InetSocketAddress peer) throws IOException {
        int before = rdma.attempts;
        ConnectAttempt attempt = context.connector().attempt(local, peer, StreamConfig.DEFAULT, 0);
        if (!attempt.isTcp()) {
            attempt.await();
        }
        attempt.reportTcpOutcome(null);
        return rdma.attempts == before
                ? "TCP"
                : rdma.lastLocal == null
                        ? "routes"
                        : rdma.lastLocal.getAddress().getHostAddress();
    }

    /** Of so many connections, from where each left. */
    private Map<String, Integer> spread(TransportContext context, InetSocketAddress peer, int count)
            throws IOException {
        Map<String, Integer> counts = new TreeMap<>();
        for (int i = 0; i < count; i++) {
            counts.merge(from(context, null, peer), 1, Integer::sum);
        }
        return counts;
    }

    @Test
    void shouldLeaveTheChoiceToTheRoutesWhereNoDeviceIsNamed() throws Exception {
        rdma.outcome = Reason.BUSY; // nothing is remembered
        assertEquals(Map.of("routes", 4), spread(context(null), PEER, 4));
        assertEquals(0, readings);
    }

    @Test
    void shouldLetTheDevicesThatReachThePeerTakeTurns() throws Exception {
        rdma.outcome = Reason.BUSY;
        assertEquals(Map.of("10.1.0.1", 3, "10.1.0.2", 3), spread(context("devices=all"), PEER, 6));
        assertEquals(Map.of("10.1.0.2", 2), spread(context("devices=mlx5_1+mlx5_2"), PEER, 2));
        assertEquals(
                Map.of("fd00:0:0:0:0:0:0:1", 2),
                spread(context("devices=all"), new InetSocketAddress("fd00::9", 80), 2));
        assertEquals(Map.of("routes", 2), spread(context("devices=all"), FAR, 2));
    }

    /** Two peers that are connected to by turns each get all devices. */
    @Test
    void shouldCountTheTurnsOfEachPeer() throws Exception {
        rdma.outcome = Reason.BUSY;
        TransportContext context = context("devices=all");
        Set<String> first = new TreeSet<>();
        for (int i = 0; i < 2; i++) {
            first.add(from(context, null, PEER));
            from(context, null, new InetSocketAddress("10.1.0.10", 80));
        }
        assertEquals(Set.of("10.1.0.1", "10.1.0.2"), first);
    }

    @Test
    void shouldUseAnAddressThatIsNamedForPeersBehindARouterToo() throws Exception {
        rdma.outcome = Reason.BUSY;
        TransportContext context = context("policy=auto", "connect 10.3.0.0/16 * auto 10.1.0.1+10.2.0.1");
        assertEquals(Map.of("10.1.0.1", 2, "10.2.0.1", 2), spread(context, FAR, 4));
        assertEquals(Map.of("routes", 2), spread(context, PEER, 2));
    }

    @Test
    void shouldLetARuleGoBeforeTheSetting() throws Exception {
        rdma.outcome = Reason.BUSY;
        TransportContext context = context("policy=auto,devices=mlx5_0", "connect 10.1.0.9 80 auto mlx5_1");
        assertEquals(Map.of("10.1.0.2", 2), spread(context, PEER, 2));
        assertEquals(Map.of("10.1.0.1", 2), spread(context, new InetSocketAddress("10.1.0.9", 81), 2));
    }

    @Test
    void shouldKeepWhatTheApplicationHasBound() throws Exception {
        rdma.outcome = Reason.BUSY;
        TransportContext context = context("devices=mlx5_0");
        assertEquals("10.1.0.2", from(context, new InetSocketAddress("10.1.0.2", 0), PEER));
        assertEquals("10.1.0.1", from(context, new InetSocketAddress("0.0.0.0", 5000), PEER));
        assertEquals(5000, rdma.lastLocal.getPort());
    }

    /** Where the routes or the application choose, only the connection manager knows the device. */
    @Test
    void shouldRefuseARouteThatLeadsToAnotherDevice() throws Exception {
        rdma.outcome = Reason.BUSY;
        TransportContext context = context("devices=mlx5_2");
        InetAddress address = InetAddress.getByName("10.1.0.1");
        from(context, null, FAR);
        assertTrue(rdma.peer.mayUse("mlx5_2", address));
        assertFalse(rdma.peer.mayUse("mlx5_0", address));
        from(context("devices=10.1.0.1"), address(address), PEER);
        assertTrue(rdma.peer.mayUse("mlx5_0", address));
        from(context(null), null, FAR);
        assertTrue(rdma.peer.mayUse("mlx5_0", address));
    }

    private static InetSocketAddress address(InetAddress address) {
        return new InetSocketAddress(address, 0);
    }

    @Test
    void shouldNotSendConnectionsWithinThisHostThroughANetwork() throws Exception {
        rdma.outcome = Reason.BUSY;
        TransportContext context = context("devices=all,scope=any");
        assertEquals(Map.of("routes", 2), spread(context, new InetSocketAddress("10.1.0.2", 80), 2));
        assertEquals(Map.of("routes", 2), spread(context, new InetSocketAddress("127.0.0.1", 80), 2));
    }

    @Test
    void shouldUseAnotherDeviceWhenThePeerIsSilentOverOneAndComeBackToIt() throws Exception {
        rdma.outcome = Reason.BUSY;
        rdma.silentFrom = InetAddress.getByName("10.1.0.1");
        TransportContext context = context("devices=all,connect.timeout=1ms");
        assertEquals(Map.of("10.1.0.2", 4), spread(context, PEER, 4));
        assertEquals(5, rdma.attempts, "one of them has met the silence, and has gone on");
        while (rdma.scheduled.isEmpty()) { // until the head start is over
            assertEquals("10.1.0.2", from(context, null, PEER));
        }
        assertEquals(Map.of("10.1.0.2", 4), spread(context, PEER, 4));
        assertEquals(1, rdma.scheduled.size(), "one probe for all");
        rdma.silentFrom = null;
        rdma.probeAnswer = Answer.OURS;
        rdma.scheduled.remove(0).run();
        assertEquals("10.1.0.1", rdma.lastProbeLocal.getAddress().getHostAddress());
        assertEquals(Map.of("10.1.0.1", 2, "10.1.0.2", 2), spread(context, PEER, 4));
        List<String> ways = context.remembered().stream()
                .map(state -> state.from().getHostAddress())
                .sorted()
                .toList();
        assertEquals(List.of("10.1.0.1", "10.1.0.2"), ways);
        assertEquals(2, context.forgetRemembered());
    }

    /** Else they would wait for ever. */
    @Test
    void shouldTellThoseWhoDoNotBlockThatTheNextDeviceCouldNotBeTried() throws Exception {
        rdma.outcome = Reason.NO_DEVICE;
        rdma.laterError = new OutOfMemoryError("as the test wants");
        ConnectAttempt attempt = context("devices=all").connector().attempt(null, PEER, StreamConfig.DEFAULT, 0);
        AtomicBoolean told = new AtomicBoolean();
        attempt.whenDecided(() -> told.set(true));
        assertTrue(told.get());
        assertSame(
                rdma.laterError, assertThrows(IOException.class, attempt::await).getCause());
    }

    @Test
    void shouldUseTcpWhenThePeerIsSilentOverAll() throws Exception {
        rdma.outcome = Reason.TIMEOUT;
        TransportContext context = context("devices=all,connect.timeout=1ms");
        assertEquals(5, spread(context, PEER, 6).get("TCP"));
        assertEquals(2, rdma.attempts, "the first one has asked over both");
        assertEquals(1, context.counts().tcpChosen(TcpReason.TIMEOUT));
        assertEquals(5, context.counts().tcpChosen(TcpReason.REMEMBERED));
    }

    /** TCP is not to wait longer because a host has more devices. */
    @Test
    void shouldHaveSilentDevicesShareTheHeadStart() throws Exception {
        rdma.outcome = Reason.TIMEOUT;
        from(context("devices=all,connect.timeout=20ms"), null, PEER);
        assertEquals(2, rdma.waits.size());
        long half = TimeUnit.MILLISECONDS.toNanos(10);
        assertTrue(rdma.waits.get(0) <= half && rdma.waits.get(1) <= half, rdma.waits.toString());
    }

    @Test
    void shouldLeaveTheHeadStartToTheLastDeviceIfTheOthersFailedAtOnce() throws Exception {
        rdma.outcome = Reason.UNREACHABLE;
        from(context("devices=all,connect.timeout=1h"), null, PEER);
        assertEquals(2, rdma.waits.size());
        long half = TimeUnit.MINUTES.toNanos(30);
        assertTrue(rdma.waits.get(0) <= half && rdma.waits.get(1) > half, rdma.waits.toString());
    }

    @Test
    void shouldLeaveTheLastDeviceTheRestOfTheCallersTime() throws Exception {
        rdma.outcome = Reason.UNREACHABLE;
        long hour = TimeUnit.HOURS.toNanos(1);
        ConnectAttempt attempt = context("devices=all,policy=rdma,connect.timeout=1h")
                .connector()
                .attempt(null, PEER, StreamConfig.DEFAULT, hour);
        assertThrows(RdmaConnectException.class, attempt::await);
        assertEquals(2, rdma.waits.size());
        long half = hour / 2;
        assertTrue(rdma.waits.get(0) <= half, rdma.waits.toString());
        assertTrue(rdma.waits.get(1) > half && rdma.waits.get(1) <= hour, rdma.waits.toString());
    }

    @Test
    void shouldAvoidTheDeviceOverWhichAConnectionWasLost() throws Exception {
        rdma.outcome = Reason.BUSY;
        TransportContext context = context("devices=all");
        spread(context, PEER, 2);
        context.connector().lost(address(InetAddress.getByName("10.1.0.1")), PEER);
        assertEquals(Map.of("10.1.0.2", 4), spread(context, PEER, 4));
    }

    /** It may answer again by now, and there is no TCP. */
    @Test
    void shouldComeToThatDeviceLastWhereRdmaIsWanted() throws Exception {
        rdma.outcome = Reason.BUSY;
        TransportContext context = context("policy=auto,devices=all", "connect 10.1.0.9 81 rdma");
        spread(context, PEER, 2);
        context.connector().lost(address(InetAddress.getByName("10.1.0.1")), PEER);
        rdma.outcome = Reason.UNREACHABLE;
        for (int i = 1; i <= 2; i++) {
            ConnectAttempt attempt = context.connector()
                    .attempt(null, new InetSocketAddress(PEER.getAddress(), 81), StreamConfig.DEFAULT, 0);
            assertThrows(RdmaConnectException.class, attempt::await);
            assertEquals(2 + 2 * i, rdma.attempts);
            assertEquals("10.1.0.1", rdma.lastLocal.getAddress().getHostAddress());
        }
    }

    @Test
    void shouldNoticeADeviceThatGoesAndComesBackWithinASecond() throws Exception {
        rdma.outcome = Reason.BUSY;
        TransportContext context = context("devices=all");
        assertEquals(2, spread(context, PEER, 2).size());
        Local gone = locals.remove(0);
        now.addAndGet(TimeUnit.SECONDS.toNanos(1));
        assertEquals(Map.of("10.1.0.2", 2), spread(context, PEER, 2));
        locals.add(0, gone);
        now.addAndGet(TimeUnit.SECONDS.toNanos(1));
        assertEquals(2, spread(context, PEER, 2).size());
        assertEquals(3, readings);
    }

    // ---- listeners ----

    @Test
    void shouldTakeRequestsOverTheDevicesThatAreNamedAlone() throws Exception {
        InetSocketAddress listener = new InetSocketAddress("0.0.0.0", 80);
        InetSocketAddress local = new InetSocketAddress("10.1.0.1", 80);
        InetAddress source = PEER.getAddress();
        assertNull(context(null).access(listener).refusal(source, local, "mlx5_0"));
        TransportContext context = context("devices=mlx5_1+10.2.0.1");
        assertEquals(
                "this listener may not use the device mlx5_0",
                context.access(listener).refusal(source, local, "mlx5_0"));
        assertEquals(1, context.counts().rdmaRefused());
        assertNull(context.access(listener).refusal(source, local, "mlx5_1"));
        assertNull(context.access(listener).refusal(source, new InetSocketAddress("10.2.0.1", 80), "mlx5_2"));
        TransportContext ruled =
                context("policy=auto,devices=mlx5_1", "bind * 80 auto mlx5_0", "accept 10.9.0.0/16 80");
        assertEquals("no rule admits it", ruled.access(listener).refusal(source, local, "mlx5_0"));
        InetAddress named = InetAddress.getByName("10.9.1.1");
        assertNull(ruled.access(listener).refusal(named, local, "mlx5_0"));
        ruled.override(Policy.TCP);
        assertEquals(
                "the policy override leaves everything to TCP",
                ruled.access(listener).refusal(named, local, "mlx5_0"));
    }

    @Test
    void shouldReadThisHostWithoutAnError() {
        assertEquals(new Adapters().locals(), new Adapters().locals());
    }

    /** The next device's attempt has begun, and is then given up. */
    @Test
    void shouldTellThoseWhoDoNotBlockThatMemoryWasLackingAfterTheNextDeviceWasTried() throws Exception {
        rdma.outcome = Reason.NO_DEVICE;
        OutOfMemoryError lacking = new OutOfMemoryError("says a test");
        AtomicInteger passes = new AtomicInteger(1); // the first is for others that wait for the same host
        rdma.atOnDone = number -> {
            if (number == 2 && passes.getAndDecrement() == 0) {
                throw lacking;
            }
        };
        ConnectAttempt attempt = context("devices=all").connector().attempt(null, PEER, StreamConfig.DEFAULT, 0);
        AtomicInteger told = new AtomicInteger();
        HopelessError.ensureNone(() -> attempt.whenDecided(told::incrementAndGet));
        assertEquals(1, told.get());
        assertSame(lacking, assertThrows(IOException.class, attempt::await).getCause());
        assertTrue(rdma.cancelled);
    }
}
