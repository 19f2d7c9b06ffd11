/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.stream.RdmaListener;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What doctor says of peers and of a host without RDMA; what it says of devices is in the lab's tests. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DoctorTest {

    @TempDir
    private Path folder;

    private final VerbsUnavailableException none =
            new VerbsUnavailableException(VerbsUnavailableException.Reason.NO_DEVICE, "no device: add one", null);

    private final ByteArrayOutputStream said = new ByteArrayOutputStream();

    private int doctor(TransportHolder holder, String settings, String peer) throws Exception {
        said.reset();
        return new Doctor(
                        // A busy machine is not a silent peer.
                        Settings.read(
                                "connect.timeout=50s" + (settings == null ? "" : ',' + settings),
                                new Properties(),
                                Map.of()),
                        new PrintStream(said, true, StandardCharsets.UTF_8),
                        holder)
                .run(peer == null ? null : Peer.parse(peer, 0));
    }

    private void assertSaid(String line) {
        assertTrue(
                said.toString(StandardCharsets.UTF_8).lines().anyMatch(one -> one.matches(line)),
                () -> line + " in\n" + said);
    }

    @Test
    void shouldSayWhatIsMissing() throws Exception {
        assertEquals(1, doctor(TransportHolder.unavailable(none), null, null));
        assertSaid("RDMA: cannot be used: no device: add one");
        assertSaid("a server here listens over TCP alone: RDMA cannot be used, see above");
        assertSaid("locked memory: .+");
        assertSaid("settings: policy=auto, .*");
    }

    @Test
    void shouldSayThatTcpCarriesAConnectionFromAHostWithoutRdma() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getByName("127.0.0.1"))) {
            String peer = "127.0.0.1:" + server.getLocalPort();
            assertEquals(1, doctor(TransportHolder.unavailable(none), null, peer));
            assertSaid(peer + ": not RDMA: RDMA is not available.*");
            assertSaid(peer + ": TCP, connected in [0-9.]+ ms");
            assertEquals(1, doctor(TransportHolder.unavailable(none), "policy=rdma", peer));
            assertSaid(peer + ": not RDMA: no device: add one");
            assertSaid(peer
                    + ": TCP, connected in [0-9.]+ ms; but the policy wants RDMA,"
                    + " so an application would get an exception");
        }
    }

    /** A device whose connections cannot be made is no device, whatever its ports say. */
    @Test
    void shouldTryAQueuePair() throws Exception {
        try (LoopbackProvider verbs = new LoopbackProvider(new LoopbackConfig().maxInline(100))) {
            RdmaTransport transport = RdmaTransport.over(verbs);
            assertEquals(0, doctor(TransportHolder.over(verbs, transport), null, null));
            transport.close();
            assertSaid("  a connection's queue pair: 63 sends, 255 receives, 96 bytes inline");
            assertSaid("RDMA: can be used");
        }
        try (LoopbackProvider verbs = new LoopbackProvider(new LoopbackConfig().maxQp(0))) {
            RdmaTransport transport = RdmaTransport.over(verbs);
            assertEquals(1, doctor(TransportHolder.over(verbs, transport), null, null));
            transport.close();
            assertSaid("  a connection's queue pair cannot be made: .*rdma_create_qp.*");
            assertSaid("RDMA: cannot be used: no queue pair can be made on any device, see above");
        }
    }

    /** Programs read it, too. */
    @Test
    void shouldWriteDigitsAsInEnglish() throws Exception {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
        try (LoopbackProvider verbs = new LoopbackProvider()) {
            RdmaTransport transport = RdmaTransport.over(verbs);
            assertEquals(0, doctor(TransportHolder.over(verbs, transport), null, null));
            transport.close();
        } finally {
            Locale.setDefault(before);
        }
        assertSaid("device .*, up to [0-9]+ queue pairs of [0-9]+ work requests, [0-9]+ memory regions");
        assertSaid("  port [0-9]+: .*, MTU [0-9]+");
        assertSaid("    gid [0-9]+: .*");
        assertSaid("  a connection's queue pair: [0-9]+ sends, [0-9]+ receives, [0-9]+ bytes inline");
    }

    /** Whoever relies on its status would learn of it from the first connection. */
    @Test
    void shouldSayThatSettingsLeaveADeviceUnused() throws Exception {
        try (LoopbackProvider verbs = new LoopbackProvider()) {
            RdmaTransport transport = RdmaTransport.over(verbs);
            TransportHolder holder = TransportHolder.over(verbs, transport);
            String device = verbs.devices().get(0).name();
            assertEquals(1, doctor(holder, "devices=nosuch", null));
            assertSaid("RDMA: could be used, but the setting devices names no device that is usable here "
                    + "\\(devices: this host has no RDMA device nosuch, only " + device + "\\)");
            assertSaid("a server here listens over RDMA and TCP, but refuses RDMA: .*devices.*");
            assertEquals(0, doctor(holder, "devices=nosuch+" + device, null));
            assertSaid("RDMA: can be used; devices: this host has no RDMA device nosuch, only " + device);
            Path rules = Files.writeString(folder.resolve("rules"), "connect * * auto " + device + "\n");
            assertEquals(0, doctor(holder, "devices=nosuch,rules=" + rules, null));
            assertSaid("settings: policy=auto, .*rules=.*; addresses that no rule names use TCP");
            assertSaid("rules: 1 rule of " + Pattern.quote(rules.toString()));
            Files.writeString(rules, "connect * * auto nosuch+" + device + "\naccept * * tcp nosuch2\n");
            assertEquals(0, doctor(holder, "devices=nosuch1,rules=" + rules, null));
            assertSaid("RDMA: can be used; devices: this host has no RDMA device nosuch1, only " + device
                    + "; rules: this host has no RDMA device nosuch, nosuch2, only " + device);
            assertEquals(0, doctor(holder, "devices=192.0.2.1", null));
            assertEquals(0, doctor(holder, "devices=ALL", null));
            assertSaid("RDMA: can be used");
            assertSaid("a server here listens over RDMA and TCP");
            assertEquals(1, doctor(holder, "policy=tcp", null));
            assertSaid("RDMA: could be used, but policy and rules leave everything to TCP");
            transport.close();
        }
    }

    /** Whichever of them comes last. */
    @Test
    void shouldFindTheOneDeviceThatCanBeUsed() throws Exception {
        try (LoopbackProvider verbs =
                new LoopbackProvider(new LoopbackConfig().maxQpWr(1000).maxMr(300))) {
            verbs.addDevice(
                    new LoopbackConfig().name("lo1").iwarp(true).maxQp(0).mtu(1024),
                    InetAddress.getByName("fe80::1"),
                    InetAddress.getByName("192.0.2.1"));
            RdmaTransport transport = RdmaTransport.over(verbs);
            TransportHolder holder = TransportHolder.over(verbs, transport);
            assertEquals(0, doctor(holder, null, null));
            assertSaid("device lo0: InfiniBand or RoCE, up to 65536 queue pairs of 1000 work requests,"
                    + " 300 memory regions");
            assertSaid("  port 1: PORT_ACTIVE, Ethernet, MTU 4096");
            assertSaid("device lo1: iWARP, up to 0 queue pairs of 16384 work requests, 65536 memory regions");
            assertSaid("  port 1: PORT_ACTIVE, Ethernet, MTU 1024");
            assertSaid("    gid 0: 192.0.2.1, RoCE v2");
            assertSaid("  a connection's queue pair cannot be made: .*rdma_create_qp.*");
            assertSaid("RDMA: can be used");
            assertEquals(0, doctor(holder, "devices=lo0", null));
            assertEquals(1, doctor(holder, "devices=lo1", null));
            assertSaid("RDMA: could be used, but the setting devices names no device that is usable here");
            transport.close();
        }
    }

    /** Such an address alone says no way. */
    @Test
    void shouldNotTryADeviceThatHasALinkLocalAddressAlone() throws Exception {
        try (LoopbackProvider verbs = new LoopbackProvider()) {
            verbs.addDevice(new LoopbackConfig().name("lo1").maxQp(0), InetAddress.getByName("fe80::1"));
            RdmaTransport transport = RdmaTransport.over(verbs);
            assertEquals(0, doctor(TransportHolder.over(verbs, transport), "devices=lo1", null));
            assertSaid("  a connection's queue pair: not tried: all addresses of active ports are link-local");
            transport.close();
        }
    }

    @Test
    void shouldTellPeersApart() throws Exception {
        try (LoopbackProvider verbs = new LoopbackProvider()) {
            RdmaTransport transport = RdmaTransport.over(verbs);
            TransportHolder holder = TransportHolder.over(verbs, transport);
            InetAddress served = InetAddress.getByName("127.0.0.1");
            try (ServerSocket tcp = new ServerSocket(0, 5, served);
                    ServerSocket unserved = new ServerSocket(0, 5, InetAddress.getByName("127.0.0.2"))) {
                String peer = "127.0.0.1:" + tcp.getLocalPort();
                assertEquals(1, doctor(holder, null, peer));
                assertSaid("RDMA: can be used");
                assertSaid("a server here listens over RDMA and TCP");
                assertSaid(peer + ": not RDMA: the peer refused RDMA \\(Connection refused, no RDMA listener there: .*"
                        + ", after [0-9.]+ ms");
                assertSaid(peer + ": TCP, connected in [0-9.]+ ms");
                Path rules = Files.writeString(folder.resolve("rules"), "connect * * rdma\nbind * * auto\n");
                assertEquals(1, doctor(holder, "rules=" + rules, peer));
                assertSaid(peer + ": TCP, connected in .* ms; but the policy wants RDMA, so an application would .*");

                try (RdmaListener listener =
                        transport.listen(new InetSocketAddress(served, tcp.getLocalPort()), 5, StreamConfig.DEFAULT)) {
                    assertEquals(0, doctor(holder, null, peer));
                    assertSaid(peer + ": RDMA, device " + verbs.devices().get(0).name()
                            + ", from 127.0.0.1, connected in [0-9.]+ ms");
                    try (RdmaStream accepted = accepted(listener)) {
                        assertEquals(-1, accepted.read(new byte[1], 0, 1, 0), "a server would log a reset");
                    }
                    assertEquals(1, doctor(holder, "policy=tcp", peer));
                    assertSaid(peer + ": not RDMA: the policy says so");
                    assertSaid("a server here listens over TCP alone: the policy says so");
                    assertTrue(listener.localAddress().getPort() > 0);
                }

                String other = "127.0.0.2:" + unserved.getLocalPort();
                assertEquals(1, doctor(holder, null, other));
                assertSaid(other + ": not RDMA: no RDMA device serves this address.*");
            } finally {
                transport.close();
            }
        }
    }

    /** A client may know sooner than the listener that it is connected. */
    private static RdmaStream accepted(RdmaListener listener) throws InterruptedException {
        CountDownLatch ready = new CountDownLatch(1);
        listener.onReady(ready::countDown);
        assertTrue(ready.await(60, TimeUnit.SECONDS));
        return listener.poll();
    }

    @Test
    void shouldSayThatAPeerIsNotThere() throws Exception {
        String peer = "127.0.0.1:" + freePort();
        assertEquals(3, doctor(TransportHolder.unavailable(none), null, peer));
        assertSaid(peer + ": not reachable over TCP either: Connection refused.*");
        assertEquals(3, doctor(TransportHolder.unavailable(none), null, "no-such-host.invalid:80"));
        assertSaid("no-such-host.invalid:80: unknown host");
    }

    private static int freePort() throws IOException {
        try (ServerSocket server = new ServerSocket(0)) {
            return server.getLocalPort();
        }
    }
}
