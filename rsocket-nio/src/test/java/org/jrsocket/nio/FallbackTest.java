/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TcpReason;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.jrsocket.verbs.loopback.Reachability;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Which transport a channel gets, and what happens on the way: rules, silent peers, mixed clients, no device at all.
 */
@Timeout(60)
class FallbackTest {

    private NioKind.OverLoopback kind;

    private NioKind.OverLoopback kind(String settings, String rules) throws Exception {
        kind = new NioKind.OverLoopback(settings, rules == null ? Rules.NONE : NioKind.rules(rules));
        return kind;
    }

    @AfterEach
    void everythingIsGivenBack() throws IOException {
        if (kind != null) {
            kind.close();
        }
    }

    private ServerSocketChannel listening() throws IOException {
        return kind.provider()
                .openServerSocketChannel()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    private static RSelectorProvider without(String settings, VerbsUnavailableException.Reason reason)
            throws Exception {
        TransportHolder holder =
                TransportHolder.unavailable(new VerbsUnavailableException(reason, "no RDMA device", null));
        return new RSelectorProvider(
                new TransportContext(Settings.read(settings, new Properties(), Map.of()), Rules.NONE, holder), holder);
    }

    @Test
    void shouldHandOutTheJdksOwnObjectsWithoutADevice() throws Exception {
        assertHandsOutTheJdks(without("policy=auto", VerbsUnavailableException.Reason.NO_DEVICE));
    }

    @Test
    void shouldNotExpectADeviceOnASystemThatCannotHaveOne() throws Exception {
        assertHandsOutTheJdks(without("device.late=on", VerbsUnavailableException.Reason.PLATFORM));
    }

    private static void assertHandsOutTheJdks(RSelectorProvider provider) throws IOException {
        try (SocketChannel client = provider.openSocketChannel();
                ServerSocketChannel server = provider.openServerSocketChannel();
                Selector selector = provider.openSelector()) {
            for (Object object : new Object[] {client, server, selector}) {
                assertEquals("sun.nio.ch", object.getClass().getPackageName());
            }
        }
    }

    @Test
    void shouldFailWithoutADeviceWhereThePolicyInsistsOnRdma() throws Exception {
        RSelectorProvider provider = without("policy=rdma", VerbsUnavailableException.Reason.NO_DEVICE);
        try (SocketChannel client = provider.openSocketChannel()) {
            assertThrows(
                    ConnectException.class,
                    () -> client.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), 1)));
            assertFalse(client.isOpen());
        }
        try (ServerSocketChannel server = provider.openServerSocketChannel()) {
            assertThrows(
                    SocketException.class,
                    () -> server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)));
        }
    }

    @Test
    void shouldServeRdmaAndTcpClientsOnOnePort() throws Exception {
        kind("policy=auto", null);
        try (ServerSocketChannel listener = listening();
                Selector selector = kind.provider().openSelector();
                SocketChannel tcp = JdkChannels.defaultProvider().openSocketChannel();
                SocketChannel rdma = kind.provider().openSocketChannel()) {
            listener.configureBlocking(false);
            SelectionKey key = listener.register(selector, SelectionKey.OP_ACCEPT);
            tcp.connect(listener.getLocalAddress());
            rdma.connect(listener.getLocalAddress());
            int overRdma = 0;
            for (int i = 0; i < 2; i++) {
                NioSuite.await(selector, key, SelectionKey.OP_ACCEPT);
                try (SocketChannel accepted = listener.accept()) {
                    overRdma += ChannelAccess.streamOf(accepted) != null ? 1 : 0;
                    accepted.write(NioSuite.text("hello"));
                }
            }
            assertEquals(1, overRdma);
            assertEquals("hello", NioSuite.read(tcp, 5));
            assertEquals("hello", NioSuite.read(rdma, 5));
            assertNotNull(ChannelAccess.streamOf(rdma));
        }
    }

    /** To those the kernel can copy files, and selectors of the JDK's take them, too. */
    @ParameterizedTest
    @ValueSource(strings = {"", "bind * * tcp\n"})
    void shouldHandOutChannelsOfTheJdksForWhatItAcceptsOverTcp(String rule) throws Exception {
        kind("policy=auto", rule.isEmpty() ? null : rule);
        for (ProtocolFamily family : new ProtocolFamily[] {null, StandardProtocolFamily.INET}) {
            try (ServerSocketChannel listener = family == null
                            ? kind.provider().openServerSocketChannel()
                            : kind.provider().openServerSocketChannel(family);
                    SocketChannel client = JdkChannels.defaultProvider().openSocketChannel()) {
                listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                client.connect(listener.getLocalAddress());
                try (SocketChannel accepted = listener.accept()) {
                    assertTrue(JdkChannels.isJdkChannel(accepted), accepted::toString);
                    assertSame(kind.provider(), accepted.provider());
                    assertTrue(accepted.isBlocking());
                }
            }
        }
    }

    @Test
    void shouldAcceptFromBothTransportsWhenBlocking() throws Exception {
        kind("policy=auto", null);
        try (ServerSocketChannel listener = listening()) {
            for (int i = 0; i < 10; i++) {
                boolean tcp = i % 2 == 0;
                var accepting = NioSuite.background(listener::accept);
                NioSuite.pause(i < 4 ? 30 : 0);
                try (SocketChannel client = tcp
                        ? JdkChannels.defaultProvider().openSocketChannel()
                        : kind.provider().openSocketChannel()) {
                    client.connect(listener.getLocalAddress());
                    try (SocketChannel server = NioSuite.get(accepting)) {
                        assertEquals(tcp, ChannelAccess.streamOf(server) == null);
                    }
                }
            }
        }
        assertEquals(5, kind.context.counts().rdmaAccepted());
        assertEquals(5, kind.context.counts().tcpAccepted());
    }

    @Test
    void shouldUseTcpWhenRdmaIsNotAnsweredInTime() throws Exception {
        kind("policy=auto,connect.timeout=150ms", "bind * * tcp\n");
        kind.verbs.place(InetAddress.getByName("127.0.0.2"), Reachability.SILENT);
        try (ServerSocketChannel listener =
                        kind.provider().openServerSocketChannel().bind(new InetSocketAddress("127.0.0.2", 0));
                Selector selector = kind.provider().openSelector();
                SocketChannel client = kind.provider().openSocketChannel()) {
            client.configureBlocking(false);
            long start = System.nanoTime();
            assertFalse(client.connect(listener.getLocalAddress()));
            SelectionKey key = client.register(selector, SelectionKey.OP_CONNECT);
            assertEquals(0, selector.selectNow());
            NioSuite.await(selector, key, SelectionKey.OP_CONNECT);
            assertTrue(client.finishConnect());
            assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(149));
            assertNull(ChannelAccess.streamOf(client));
            key.interestOps(SelectionKey.OP_WRITE);
            NioSuite.await(selector, key, SelectionKey.OP_WRITE);
            client.write(NioSuite.text("tcp"));
            try (SocketChannel server = listener.accept()) {
                assertEquals("tcp", NioSuite.read(server, 3));
            }
        }
    }

    @Test
    void shouldReachASilentHostAfterSomeChannelsThatWereClosedSoonerThanTheHeadStart() throws Exception {
        kind("policy=auto,connect.timeout=200ms", "bind * * tcp\n");
        kind.verbs.place(InetAddress.getByName("127.0.0.2"), Reachability.SILENT);
        InetSocketAddress any = new InetSocketAddress("127.0.0.2", 0);
        try (ServerSocketChannel listener =
                        kind.provider().openServerSocketChannel().bind(any);
                Selector selector = kind.provider().openSelector()) {
            boolean connected = false;
            while (!connected) { // as a client does whose own timer is shorter than ours
                try (SocketChannel client = kind.provider().openSocketChannel()) {
                    client.configureBlocking(false);
                    client.connect(listener.getLocalAddress());
                    client.register(selector, SelectionKey.OP_CONNECT);
                    connected = selector.select(30) > 0 && client.finishConnect();
                    selector.selectedKeys().clear();
                }
                selector.selectNow();
            }
            try (SocketChannel client = kind.provider().openSocketChannel()) { // which remembers it
                client.connect(listener.getLocalAddress());
                assertNull(ChannelAccess.streamOf(client));
            }
        }
        assertEquals(0, kind.context.counts().rdmaConnected());
        assertTrue(kind.context.counts().tcpChosen(TcpReason.REMEMBERED) > 0);
    }

    @Test
    void shouldConnectManyAtOnceWithoutThreadsOfTheirOwn() throws Exception {
        kind("policy=auto,connect.timeout=300ms,memory.unanswered=0,memory.rejected=0", "bind * * tcp\n");
        kind.verbs.place(InetAddress.getByName("127.0.0.2"), Reachability.SILENT);
        List<SocketChannel> clients = new ArrayList<>();
        try (ServerSocketChannel listener =
                        kind.provider().openServerSocketChannel().bind(new InetSocketAddress("127.0.0.2", 0), 400);
                Selector selector = kind.provider().openSelector()) {
            int threads = Thread.activeCount();
            for (int i = 0; i < 200; i++) {
                SocketChannel client = kind.provider().openSocketChannel();
                clients.add(client);
                client.configureBlocking(false);
                assertFalse(client.connect(listener.getLocalAddress()));
                client.register(selector, SelectionKey.OP_CONNECT);
            }
            assertTrue(Thread.activeCount() <= threads + 2, () -> Thread.activeCount() + " threads, before " + threads);
            int connected = 0;
            while (connected < clients.size()) {
                selector.select(key -> assertTrue(isNowConnected(key)));
                connected = (int)
                        clients.stream().filter(SocketChannel::isConnected).count();
            }
            assertEquals(200, kind.context.counts().tcpChosen(TcpReason.TIMEOUT));
        } finally {
            for (SocketChannel client : clients) {
                client.close();
            }
        }
    }

    private static boolean isNowConnected(SelectionKey key) {
        try {
            key.interestOps(0);
            return ((SocketChannel) key.channel()).finishConnect();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldCloseWhileAPeerDoesNotAnswer() throws Exception {
        kind("policy=auto,connect.timeout=20s", null);
        kind.verbs.place(InetAddress.getByName("127.0.0.2"), Reachability.SILENT);
        try (SocketChannel client = kind.provider().openSocketChannel()) {
            client.configureBlocking(false);
            assertFalse(client.connect(new InetSocketAddress("127.0.0.2", 9)));
            NioSuite.pause(30);
            assertFalse(client.finishConnect());
        }
        SocketChannel blocking = kind.provider().openSocketChannel();
        NioSuite.Failing connecting =
                new NioSuite.Failing(() -> blocking.connect(new InetSocketAddress("127.0.0.2", 10)));
        NioSuite.pause(30);
        blocking.close();
        assertInstanceOf(AsynchronousCloseException.class, connecting.join());
    }

    @Test
    void shouldInterruptAConnectToASilentPeer() throws Exception {
        kind("policy=auto,connect.timeout=20s", null);
        kind.verbs.place(InetAddress.getByName("127.0.0.2"), Reachability.SILENT);
        try (SocketChannel client = kind.provider().openSocketChannel()) {
            NioSuite.Failing connecting =
                    new NioSuite.Failing(() -> client.connect(new InetSocketAddress("127.0.0.2", 9)));
            NioSuite.pause(30);
            connecting.thread.interrupt();
            Throwable e = connecting.join();
            assertInstanceOf(ClosedByInterruptException.class, e);
            assertFalse(client.isOpen());
        }
    }

    @Test
    void shouldRefuseTcpClientsWhereThePolicyInsistsOnRdma() throws Exception {
        kind("policy=rdma", null);
        try (ServerSocketChannel listener = listening();
                SocketChannel client = kind.provider().openSocketChannel()) {
            InetSocketAddress address = (InetSocketAddress) listener.getLocalAddress();
            assertTrue(address.getPort() > 0);
            assertEquals(address.getPort(), listener.socket().getLocalPort());
            try (SocketChannel tcp = JdkChannels.defaultProvider().openSocketChannel()) {
                assertThrows(ConnectException.class, () -> tcp.connect(address));
            }
            client.connect(address);
            try (SocketChannel server = listener.accept()) {
                server.write(NioSuite.text("only"));
                assertEquals("only", NioSuite.read(client, 4));
            }
        }
    }

    @Test
    void shouldBindAgainAfterAPortThatIsTakenWhereThePolicyInsistsOnRdma() throws Exception {
        kind("policy=rdma", null);
        ServerSocketChannel other = kind.provider().openServerSocketChannel();
        try (ServerSocketChannel listener = listening();
                ServerSocketChannel tcp = JdkChannels.defaultProvider()
                        .openServerSocketChannel()
                        .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            assertThrows(BindException.class, () -> other.bind(listener.getLocalAddress()));
            assertThrows(BindException.class, () -> other.bind(tcp.getLocalAddress()));
            other.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            assertThrows(AlreadyBoundException.class, () -> other.bind(null));
        } finally {
            other.close();
        }
        assertThrows(ClosedChannelException.class, () -> other.bind(null));
    }

    @Test
    void shouldSelectAListenerThatHasRdmaAlone() throws Exception {
        kind("policy=rdma", null);
        for (boolean registeredFirst : new boolean[] {false, true}) {
            try (ServerSocketChannel listener = kind.provider().openServerSocketChannel();
                    Selector selector = kind.provider().openSelector();
                    SocketChannel client = kind.provider().openSocketChannel()) {
                InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
                if (!registeredFirst) {
                    listener.bind(any);
                }
                listener.configureBlocking(false);
                SelectionKey key = listener.register(selector, SelectionKey.OP_ACCEPT);
                if (registeredFirst) {
                    listener.bind(any);
                }
                assertNull(listener.accept());
                assertEquals(0, selector.select(50)); // what keeps the port is not ready for anything
                client.connect(listener.getLocalAddress());
                NioSuite.await(selector, key, SelectionKey.OP_ACCEPT);
                try (SocketChannel server = listener.accept()) {
                    assertNotNull(ChannelAccess.streamOf(server));
                }
            }
        }
    }

    /** The rule is for ports that the system chooses among others. */
    @Test
    void shouldListenWithRdmaAloneOnAChosenPortWhenRegisteredFirst() throws Exception {
        kind("policy=auto", "bind * 1024-* rdma\n");
        try (ServerSocketChannel listener = kind.provider().openServerSocketChannel();
                Selector selector = kind.provider().openSelector();
                SocketChannel client = kind.provider().openSocketChannel()) {
            listener.configureBlocking(false);
            SelectionKey key = listener.register(selector, SelectionKey.OP_ACCEPT);
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            client.connect(listener.getLocalAddress());
            NioSuite.await(selector, key, SelectionKey.OP_ACCEPT);
            try (SocketChannel server = listener.accept()) {
                assertNotNull(ChannelAccess.streamOf(server));
            }
        }
    }

    /** The rule is for none of the ports that the system chooses. */
    @Test
    void shouldListenOnBothOnAChosenPortOfWhichNoRuleSpeaks() throws Exception {
        kind("policy=auto", "bind * 80 rdma\nbind * * auto\n");
        for (boolean registeredFirst : new boolean[] {false, true}) {
            try (ServerSocketChannel listener = kind.provider().openServerSocketChannel();
                    Selector selector = kind.provider().openSelector();
                    SocketChannel client = NioKind.jdk().provider().openSocketChannel()) {
                listener.configureBlocking(false);
                SelectionKey key = registeredFirst ? listener.register(selector, SelectionKey.OP_ACCEPT) : null;
                listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                if (!registeredFirst) {
                    key = listener.register(selector, SelectionKey.OP_ACCEPT);
                }
                client.connect(listener.getLocalAddress());
                NioSuite.await(selector, key, SelectionKey.OP_ACCEPT);
                try (SocketChannel server = listener.accept()) {
                    assertNull(ChannelAccess.streamOf(server));
                }
            }
        }
    }

    @Test
    void shouldNotFallBackWhereARuleInsistsOnRdma() throws Exception {
        kind("policy=auto", "bind * * tcp\nconnect * * rdma\n");
        try (ServerSocketChannel listener = listening();
                Selector selector = kind.provider().openSelector();
                SocketChannel client = kind.provider().openSocketChannel()) {
            client.configureBlocking(false);
            client.connect(listener.getLocalAddress());
            SelectionKey key = client.register(selector, SelectionKey.OP_CONNECT);
            NioSuite.await(selector, key, SelectionKey.OP_CONNECT);
            assertThrows(ConnectException.class, client::finishConnect);
            assertFalse(client.isOpen());
        }
    }

    @Test
    void shouldRememberAPeerThatRefused() throws Exception {
        kind("policy=auto", "bind * * tcp\n");
        try (ServerSocketChannel listener = listening()) {
            for (int i = 0; i < 3; i++) {
                try (SocketChannel client = kind.provider().openSocketChannel()) {
                    client.connect(listener.getLocalAddress());
                    listener.accept().close();
                }
            }
        }
        assertEquals(1, kind.context.counts().tcpChosen(TcpReason.REFUSED));
        assertEquals(2, kind.context.counts().tcpChosen(TcpReason.REMEMBERED));
    }

    @Test
    void shouldLeaveNothingBehindOfAbandonedConnections() throws Exception {
        kind("policy=auto", null);
        try (ServerSocketChannel listener = listening();
                Selector selector = kind.provider().openSelector()) {
            listener.configureBlocking(false);
            listener.register(selector, SelectionKey.OP_ACCEPT);
            for (int i = 0; i < 20; i++) {
                try (SocketChannel client = kind.provider().openSocketChannel()) {
                    client.configureBlocking(false);
                    client.connect(listener.getLocalAddress());
                    client.register(selector, SelectionKey.OP_CONNECT);
                    selector.select(1 + i % 3);
                    selector.selectedKeys().clear();
                }
            }
            selector.selectNow();
            assertEquals(1, selector.keys().size());
        } // everything of verbs is counted when the kind closes
    }

    @Test
    void shouldReadFromManySelectorsThatShareAConnection() throws Exception {
        kind("policy=auto", null);
        try (ServerSocketChannel listener = listening();
                SocketChannel client = kind.provider().openSocketChannel()) {
            client.connect(listener.getLocalAddress());
            try (SocketChannel server = listener.accept();
                    Selector one = kind.provider().openSelector();
                    Selector two = kind.provider().openSelector()) {
                client.configureBlocking(false);
                SelectionKey a = client.register(one, SelectionKey.OP_READ);
                SelectionKey b = client.register(two, SelectionKey.OP_READ);
                for (int i = 0; i < 50; i++) {
                    var first = NioSuite.background(() -> NioSuite.await(one, a, SelectionKey.OP_READ));
                    var second = NioSuite.background(() -> NioSuite.await(two, b, SelectionKey.OP_READ));
                    NioSuite.pause(i % 5);
                    server.write(NioSuite.text("b"));
                    NioSuite.get(first);
                    NioSuite.get(second);
                    assertEquals(1, client.read(ByteBuffer.allocate(5)));
                }
            }
        }
    }
}
