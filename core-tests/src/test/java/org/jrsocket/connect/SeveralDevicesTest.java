/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.GidTables.Local;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.verbs.loopback.CmMessage;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackDevice;
import org.jrsocket.verbs.loopback.LoopbackId;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.verbs.loopback.Reachability;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two devices of this host that reach the same peer. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SeveralDevicesTest {

    private static final StreamConfig CONFIG = StreamConfig.DEFAULT;

    private final List<RdmaStream> streams = new ArrayList<>();
    private LoopbackProvider verbs;
    private RdmaTransport transport;
    private InetAddress peer;
    private LoopbackDevice first;

    @BeforeEach
    void open() throws IOException {
        verbs = new LoopbackProvider(new LoopbackConfig().cmTimeoutMillis(30_000));
        transport = RdmaTransport.over(verbs);
        peer = InetAddress.getByName("10.9.0.9");
        verbs.serve(peer, verbs.device()); // it stands for another host
        first = verbs.addDevice(new LoopbackConfig().name("lo1"), InetAddress.getByName("10.9.0.1"));
        verbs.addDevice(new LoopbackConfig().name("lo2"), InetAddress.getByName("10.9.0.2"));
    }

    @AfterEach
    void close() {
        streams.forEach(RdmaStream::abort);
        transport.close();
        verbs.assertClean();
        verbs.close();
    }

    private TransportContext context(String settings) throws Exception {
        return context(settings, "30s");
    }

    private TransportContext context(String settings, String headStart) throws Exception {
        List<Local> locals = new ArrayList<>();
        for (int i = 1; i <= 2; i++) {
            InetAddress address = InetAddress.getByName("10.9.0." + i);
            locals.add(new Local("lo" + i, address, new LocalNetworks.Prefix(address.getAddress(), 24)));
        }
        return new TransportContext(
                Settings.read("connect.timeout=" + headStart + "," + settings, new Properties(), Map.of()),
                Rules.NONE,
                TransportHolder.of(transport),
                new Adapters(() -> locals, System::nanoTime));
    }

    /** @return the stream, or null for TCP */
    private RdmaStream connect(TransportContext context, InetSocketAddress to) throws IOException {
        ConnectAttempt attempt = context.connector().attempt(null, to, CONFIG, 0);
        RdmaStream stream = attempt.await();
        if (stream == null) {
            attempt.reportTcpOutcome(null);
        } else {
            streams.add(stream);
        }
        return stream;
    }

    private static DualListener listen(TransportContext context, InetSocketAddress at) throws IOException {
        return DualListener.open(context, FakePort.given(at), 64, CONFIG);
    }

    @Test
    void shouldSpreadConnectionsAndServeTheOtherDeviceWhenOneIsRemoved() throws Exception {
        InetSocketAddress address = new InetSocketAddress(peer, 7000);
        TransportContext context = context("devices=all");
        try (DualListener listener =
                listen(context(""), new InetSocketAddress(InetAddress.getByAddress(new byte[4]), 7000))) {
            Map<String, Integer> devices = new TreeMap<>();
            for (int i = 0; i < 6; i++) {
                RdmaStream stream = connect(context, address);
                devices.merge(stream.deviceName(), 1, Integer::sum);
                assertEquals(
                        "10.9.0." + stream.deviceName().substring(2),
                        stream.localAddress().getAddress().getHostAddress());
            }
            assertEquals(Map.of("lo1", 3, "lo2", 3), devices);
            assertTrue(listener.fetch());
            verbs.faults().removeDevice(device("lo1"));
            for (int i = 0; i < 6; i++) { // what was known of it is a second old
                assertEquals("lo2", connect(context, address).deviceName());
            }
        }
    }

    private DualListener listenFarAway() throws Exception {
        return listen(context(""), new InetSocketAddress(InetAddress.getByAddress(new byte[4]), 7000));
    }

    private InetSocketAddress farAway() {
        return new InetSocketAddress(peer, 7000);
    }

    /** As channels connect. @return the stream, or null for TCP */
    private RdmaStream connectWithoutWaiting(TransportContext context, InetSocketAddress to) throws Exception {
        ConnectAttempt attempt = context.connector().attempt(null, to, CONFIG, 0);
        if (attempt.isTcp()) {
            return null;
        }
        CountDownLatch decided = new CountDownLatch(1);
        attempt.whenDecided(decided::countDown);
        assertTrue(decided.await(30, TimeUnit.SECONDS));
        RdmaStream stream = attempt.await();
        if (stream != null) {
            streams.add(stream);
        }
        return stream;
    }

    /** What a device is good for is known when it is tried. */
    @ParameterizedTest
    @CsvSource({"auto, true", "auto, false", "rdma, true", "rdma, false"})
    void shouldGoOnWithTheOtherDeviceWhereOneDoesNotServeItsAddress(String policy, boolean waits) throws Exception {
        verbs.place(InetAddress.getByName("10.9.0.1"), Reachability.NO_DEVICE);
        TransportContext context = context("devices=all,memory.rejected=1ms,policy=" + policy);
        try (DualListener listener = listenFarAway()) {
            for (int i = 0; i < 6; i++) {
                RdmaStream stream = waits ? connect(context, farAway()) : connectWithoutWaiting(context, farAway());
                assertEquals("lo2", stream.deviceName());
            }
            assertEquals(0, context.counts().tcpChosen(TcpReason.NO_DEVICE));
            verbs.serve(InetAddress.getByName("10.9.0.1"), first);
            String device = "";
            while (!device.equals("lo1")) { // it takes its turn again
                device = connect(context, farAway()).deviceName();
            }
            assertTrue(listener.fetch());
        }
    }

    /** The last one has all the time that there is: nothing comes after it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldGoOnWithTheOtherDeviceWhereOneIsSilent(boolean waits) throws Exception {
        TransportContext context = context("devices=all,policy=rdma", "300ms");
        try (DualListener listener = listenFarAway()) {
            verbs.faults().drop(CmMessage.REQ, 1);
            RdmaStream stream = waits ? connect(context, farAway()) : connectWithoutWaiting(context, farAway());
            String other = stream.deviceName();
            assertEquals(
                    List.of("10.9.0." + (other.equals("lo1") ? 2 : 1)),
                    context.remembered().stream()
                            .filter(state -> state.kind() == PeerState.Kind.SILENT)
                            .map(state -> state.from().getHostAddress())
                            .toList());
            for (int i = 0; i < 3; i++) { // until a probe is answered
                assertEquals(other, connect(context, farAway()).deviceName());
            }
            assertTrue(listener.fetch());
        }
    }

    /** Both together have the head start of one. */
    @Test
    void shouldUseTcpWhereBothAreSilent() throws Exception {
        TransportContext context = context("devices=all", "100ms");
        try (DualListener listener = listenFarAway()) {
            verbs.faults().drop(CmMessage.REQ, Integer.MAX_VALUE);
            assertNull(connect(context, farAway()));
            assertEquals(1, context.counts().tcpChosen(TcpReason.TIMEOUT));
            assertTrue(context.connector().attempt(null, farAway(), CONFIG, 0).isTcp());
            assertEquals(1, context.counts().tcpChosen(TcpReason.REMEMBERED));
            assertTrue(!listener.fetch());
        }
    }

    @Test
    void shouldSayWhyNeitherServesWhereRdmaIsWanted() throws Exception {
        verbs.place(InetAddress.getByName("10.9.0.1"), Reachability.NO_DEVICE);
        verbs.place(InetAddress.getByName("10.9.0.2"), Reachability.NO_DEVICE);
        TransportContext context = context("devices=all,policy=rdma");
        for (int i = 0; i < 2; i++) { // remembered or not
            RdmaConnectException e = assertThrows(RdmaConnectException.class, () -> connect(context, farAway()));
            assertEquals(RdmaConnectException.Reason.NO_DEVICE, e.reason());
            assertEquals(1, e.getSuppressed().length);
        }
    }

    @Test
    void shouldSayThatTheSocketClosedWhenCancelledOnTheSecondDevice() throws Exception {
        verbs.place(InetAddress.getByName("10.9.0.1"), Reachability.NO_DEVICE);
        verbs.faults().drop(CmMessage.REQ, Integer.MAX_VALUE);
        TransportContext context = context("devices=all,policy=rdma");
        try (DualListener listener = listenFarAway()) {
            ConnectAttempt attempt = context.connector().attempt(null, farAway(), CONFIG, 0);
            CountDownLatch decided = new CountDownLatch(1);
            attempt.whenDecided(decided::countDown);
            while (verbs.ids().stream().noneMatch(id -> id.isActive() && isOn(id, "lo2"))) {
                Thread.sleep(1);
            }
            assertEquals(1, decided.getCount());
            attempt.cancel();
            assertTrue(decided.await(30, TimeUnit.SECONDS));
            assertEquals(
                    "Socket closed",
                    assertThrows(SocketException.class, attempt::await).getMessage());
            assertTrue(!listener.fetch());
        }
    }

    /** What the peer says itself it would say over each device: one round trip is enough. */
    @Test
    void shouldTakeTheAnswerOfThePeerForAll() throws Exception {
        TransportContext context = context("devices=all");
        assertNull(connect(context, farAway()));
        assertEquals(1, context.counts().tcpChosen(TcpReason.REFUSED));
        assertEquals(
                1,
                context.remembered().stream().filter(state -> state.port() != 0).count());
    }

    private static boolean isOn(LoopbackId id, String device) {
        return id.getVerbs() instanceof LoopbackDevice its && its.name().equals(device);
    }

    private LoopbackDevice device(String name) {
        return verbs.ids().stream()
                .map(id -> (LoopbackDevice) id.getVerbs())
                .filter(device -> device != null && device.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldNotUseADeviceThatTheSettingsDoNotName() throws Exception {
        InetSocketAddress address = new InetSocketAddress(peer, 7000);
        try (DualListener listener = listen(context("devices=lo0"), address)) {
            assertEquals("lo2", connect(context("devices=lo2"), address).deviceName());
            TransportContext elsewhere = context("devices=mlx5_0");
            assertNull(connect(elsewhere, address));
            assertEquals(1, elsewhere.counts().tcpChosen(TcpReason.NO_DEVICE));
            String said = assertThrows(
                            RdmaConnectException.class, () -> connect(context("policy=rdma,devices=mlx5_0"), address))
                    .getMessage();
            assertTrue(said.endsWith(", which is not allowed here"), said);
            assertTrue(listener.fetch());
        }
        TransportContext server = context("devices=lo2");
        try (DualListener listener = listen(server, address)) {
            assertNull(connect(context(""), address));
            assertEquals(1, server.counts().rdmaRefused());
            assertTrue(!listener.fetch());
        }
    }
}
