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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.jrsocket.connect.Adapters.Local;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackDevice;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two devices of this host that reach the same peer. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SeveralDevicesTest {

    private static final StreamConfig CONFIG = StreamConfig.DEFAULT;

    private final List<RdmaStream> streams = new ArrayList<>();
    private LoopbackProvider verbs;
    private RdmaTransport transport;
    private InetAddress peer;

    @BeforeEach
    void open() throws IOException {
        verbs = new LoopbackProvider(new LoopbackConfig().cmTimeoutMillis(30_000));
        transport = RdmaTransport.over(verbs);
        peer = InetAddress.getByName("10.9.0.9");
        verbs.serve(peer, verbs.device()); // it stands for another host
        verbs.addDevice(new LoopbackConfig().name("lo1"), InetAddress.getByName("10.9.0.1"));
        verbs.addDevice(new LoopbackConfig().name("lo2"), InetAddress.getByName("10.9.0.2"));
    }

    @AfterEach
    void close() {
        streams.forEach(RdmaStream::abort);
        transport.close();
        verbs.close();
    }

    private TransportContext stack(String settings) throws Exception {
        List<Local> locals = new ArrayList<>();
        for (int i = 1; i <= 2; i++) {
            InetAddress address = InetAddress.getByName("10.9.0." + i);
            locals.add(new Local("lo" + i, address, new LocalNetworks.Prefix(address.getAddress(), 24)));
        }
        return new TransportContext(
                Settings.read("connect.timeout=30s," + settings, new Properties(), Map.of()),
                Rules.NONE,
                TransportHolder.of(transport),
                new Adapters(() -> locals, System::nanoTime));
    }

    /** @return the stream, or null for TCP */
    private RdmaStream connect(TransportContext stack, InetSocketAddress to) throws IOException {
        ConnectAttempt attempt = stack.connector().attempt(null, to, CONFIG, 0);
        RdmaStream stream = attempt.await();
        if (stream == null) {
            attempt.reportTcpOutcome(null);
        } else {
            streams.add(stream);
        }
        return stream;
    }

    private static DualListener listen(TransportContext stack, InetSocketAddress at) throws IOException {
        return DualListener.open(stack, FakePort.given(at), 64, CONFIG);
    }

    @Test
    void shouldSpreadConnectionsAndServeTheOtherDeviceWhenOneIsRemoved() throws Exception {
        InetSocketAddress address = new InetSocketAddress(peer, 7000);
        TransportContext stack = stack("devices=all");
        try (DualListener listener =
                listen(stack(""), new InetSocketAddress(InetAddress.getByAddress(new byte[4]), 7000))) {
            Map<String, Integer> devices = new TreeMap<>();
            for (int i = 0; i < 6; i++) {
                RdmaStream stream = connect(stack, address);
                devices.merge(stream.deviceName(), 1, Integer::sum);
                assertEquals(
                        "10.9.0." + stream.deviceName().substring(2),
                        stream.localAddress().getAddress().getHostAddress());
            }
            assertEquals(Map.of("lo1", 3, "lo2", 3), devices);
            assertTrue(listener.isReady());
            verbs.faults().removeDevice(device("lo1"));
            // What was known of it is a second old: one connection uses TCP, and none fails to be made.
            int tcp = 0;
            for (int i = 0; i < 6; i++) {
                RdmaStream stream = connect(stack, address);
                assertTrue(stream == null || stream.deviceName().equals("lo2"));
                tcp += stream == null ? 1 : 0;
            }
            assertEquals(1, tcp);
        }
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
        try (DualListener listener = listen(stack("devices=lo0"), address)) {
            assertEquals("lo2", connect(stack("devices=lo2"), address).deviceName());
            TransportContext elsewhere = stack("devices=mlx5_0");
            assertNull(connect(elsewhere, address));
            assertEquals(1, elsewhere.counts().tcpChosen(TcpReason.NO_DEVICE));
            String said = assertThrows(
                            RdmaConnectException.class, () -> connect(stack("policy=rdma,devices=mlx5_0"), address))
                    .getMessage();
            assertTrue(said.endsWith(", which this may not use"), said);
            assertTrue(listener.isReady());
        }
        TransportContext server = stack("devices=lo2");
        try (DualListener listener = listen(server, address)) {
            assertNull(connect(stack(""), address));
            assertEquals(1, server.counts().rdmaRefused());
            assertTrue(!listener.isReady());
        }
    }
}
