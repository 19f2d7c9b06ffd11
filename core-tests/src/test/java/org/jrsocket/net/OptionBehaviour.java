/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Options of a Socket: before it is connected, after, and at the accepting end. */
abstract class OptionBehaviour extends SocketBehaviour {

    OptionBehaviour(SocketKind kind) {
        super(kind);
    }

    /** A socket in each of its states. */
    private List<Socket> sockets() throws IOException {
        Pair pair = pair();
        return List.of(newSocket(), pair.client(), pair.server());
    }

    @Test
    void shouldSupportTheStandardOptions() throws IOException {
        Set<SocketOption<?>> standard = Set.of(
                StandardSocketOptions.SO_SNDBUF,
                StandardSocketOptions.SO_RCVBUF,
                StandardSocketOptions.SO_KEEPALIVE,
                StandardSocketOptions.SO_LINGER,
                StandardSocketOptions.SO_REUSEADDR,
                StandardSocketOptions.SO_REUSEPORT,
                StandardSocketOptions.TCP_NODELAY,
                StandardSocketOptions.IP_TOS);
        for (Socket socket : sockets()) {
            assertTrue(socket.supportedOptions().containsAll(standard), "" + socket.supportedOptions());
        }
    }

    @Test
    void shouldSupportTheExtendedOptions() throws IOException {
        for (Socket socket : sockets()) {
            Set<String> names =
                    socket.supportedOptions().stream().map(SocketOption::name).collect(Collectors.toSet());
            assertTrue(
                    names.containsAll(Set.of("TCP_KEEPIDLE", "TCP_KEEPINTERVAL", "TCP_KEEPCOUNT", "TCP_QUICKACK")),
                    "" + names);
        }
    }

    @Test
    void shouldReadEverySupportedOption() throws IOException {
        for (Socket socket : sockets()) {
            for (SocketOption<?> option : socket.supportedOptions()) {
                assertNotNull(socket.getOption(option), option.name());
            }
        }
    }

    @Test
    void shouldRejectOptionsOfOtherSockets() throws IOException {
        for (Socket socket : sockets()) {
            assertThrowsSaying(
                    UnsupportedOperationException.class,
                    "'IP_MULTICAST_TTL' not supported",
                    () -> socket.setOption(StandardSocketOptions.IP_MULTICAST_TTL, 1));
            assertThrowsSaying(
                    UnsupportedOperationException.class,
                    "'IP_MULTICAST_TTL' not supported",
                    () -> socket.getOption(StandardSocketOptions.IP_MULTICAST_TTL));
        }
    }

    @Test
    void shouldRejectValuesThatMakeNoSense() throws IOException {
        for (Socket socket : sockets()) {
            assertThrows(
                    IllegalArgumentException.class, () -> socket.setOption(StandardSocketOptions.SO_KEEPALIVE, null));
            assertThrows(IllegalArgumentException.class, () -> socket.setOption(StandardSocketOptions.SO_SNDBUF, -1));
            assertThrows(IllegalArgumentException.class, () -> socket.setOption(StandardSocketOptions.IP_TOS, 256));
            assertThrows(IllegalArgumentException.class, () -> socket.setSendBufferSize(0));
            assertThrows(IllegalArgumentException.class, () -> socket.setReceiveBufferSize(-5));
            assertThrows(IllegalArgumentException.class, () -> socket.setTrafficClass(300));
            assertThrows(NullPointerException.class, () -> socket.setOption(null, 1));
            assertThrows(NullPointerException.class, () -> socket.getOption(null));
        }
    }

    @Test
    void shouldRememberNoDelay() throws IOException {
        for (Socket socket : sockets()) {
            assertFalse(socket.getTcpNoDelay());
            socket.setTcpNoDelay(true);
            assertTrue(socket.getTcpNoDelay());
            assertTrue(socket.getOption(StandardSocketOptions.TCP_NODELAY));
            socket.setOption(StandardSocketOptions.TCP_NODELAY, false);
            assertFalse(socket.getTcpNoDelay());
        }
    }

    @Test
    void shouldRememberKeepAlive() throws IOException {
        for (Socket socket : sockets()) {
            assertFalse(socket.getKeepAlive());
            socket.setKeepAlive(true);
            assertTrue(socket.getKeepAlive());
            socket.setOption(StandardSocketOptions.SO_KEEPALIVE, false);
            assertFalse(socket.getKeepAlive());
        }
    }

    @Test
    void shouldStayOfUseWithKeepAlive() throws Exception {
        Pair pair = pair();
        SocketOption<Integer> idle = keepIdle(pair.client());
        pair.client().setOption(idle, 1);
        pair.client().setKeepAlive(true);
        pair.server().setKeepAlive(true);
        Thread.sleep(2500);
        pair.clientOut().write(1);
        assertEquals(1, pair.serverIn().read());
        pair.serverOut().write(2);
        assertEquals(2, pair.clientIn().read());
    }

    @SuppressWarnings("unchecked") // the JDK declares it so
    private static SocketOption<Integer> keepIdle(Socket socket) {
        return (SocketOption<Integer>) socket.supportedOptions().stream()
                .filter(o -> o.name().equals("TCP_KEEPIDLE"))
                .findFirst()
                .orElseGet(() -> Assumptions.abort("no TCP_KEEPIDLE"));
    }

    @Test
    void shouldRememberTheKeepAliveTimes() throws IOException {
        for (Socket socket : sockets()) {
            SocketOption<Integer> idle = keepIdle(socket);
            socket.setOption(idle, 77);
            assertEquals(77, socket.getOption(idle));
            assertThrowsSaying(SocketException.class, "Invalid argument", () -> socket.setOption(idle, 0));
            assertThrowsSaying(SocketException.class, "Invalid argument", () -> socket.setOption(idle, 100_000));
        }
    }

    @Test
    void shouldRememberReuseAddress() throws IOException {
        Pair pair = pair();
        assertFalse(pair.client().getReuseAddress());
        assertTrue(pair.server().getReuseAddress(), "inherited from the server");
        for (Socket socket : sockets()) {
            socket.setReuseAddress(true);
            assertTrue(socket.getReuseAddress());
            socket.setReuseAddress(false);
            assertFalse(socket.getReuseAddress());
        }
    }

    @Test
    void shouldRememberReusePort() throws IOException {
        for (Socket socket : sockets()) {
            assertFalse(socket.getOption(StandardSocketOptions.SO_REUSEPORT));
            socket.setOption(StandardSocketOptions.SO_REUSEPORT, true);
            assertTrue(socket.getOption(StandardSocketOptions.SO_REUSEPORT));
        }
    }

    @Test
    void shouldRememberTheTrafficClass() throws IOException {
        for (Socket socket : sockets()) {
            assertEquals(0, socket.getTrafficClass());
            socket.setTrafficClass(0x28);
            assertEquals(0x28, socket.getTrafficClass());
            assertEquals(0x28, socket.getOption(StandardSocketOptions.IP_TOS));
        }
    }

    @Test
    void shouldRememberOutOfBandInline() throws IOException {
        for (Socket socket : sockets()) {
            assertFalse(socket.getOOBInline());
            socket.setOOBInline(true);
            assertTrue(socket.getOOBInline());
        }
    }

    @Test
    void shouldRememberLingerAsAnOption() throws IOException {
        for (Socket socket : sockets()) {
            assertEquals(-1, socket.getOption(StandardSocketOptions.SO_LINGER));
            socket.setOption(StandardSocketOptions.SO_LINGER, 3);
            assertEquals(3, socket.getSoLinger());
            socket.setOption(StandardSocketOptions.SO_LINGER, -1);
            assertEquals(-1, socket.getSoLinger());
        }
    }

    @Test
    void shouldRememberItsTimeoutInEveryState() throws IOException {
        for (Socket socket : sockets()) {
            socket.setSoTimeout(4321);
            assertEquals(4321, socket.getSoTimeout());
        }
    }

    @Test
    void shouldHaveBuffers() throws IOException {
        for (Socket socket : sockets()) {
            assertTrue(socket.getSendBufferSize() > 0);
            assertTrue(socket.getReceiveBufferSize() > 0);
            assertEquals(socket.getSendBufferSize(), socket.getOption(StandardSocketOptions.SO_SNDBUF));
            assertEquals(socket.getReceiveBufferSize(), socket.getOption(StandardSocketOptions.SO_RCVBUF));
        }
    }

    @Test
    void shouldTakeBufferSizesBeforeConnecting() throws IOException {
        try (ServerSocket server = listening()) {
            Socket client = newSocket();
            client.setSendBufferSize(64 * 1024);
            client.setReceiveBufferSize(32 * 1024);
            client.connect(server.getLocalSocketAddress());
            accept(server);
            assertEquals(64 * 1024, client.getSendBufferSize());
            assertEquals(32 * 1024, client.getReceiveBufferSize());
        }
    }

    @Test
    void shouldTakeBufferSizesAfterConnectingToo() throws IOException {
        Pair pair = pair();
        for (Socket socket : List.of(pair.client(), pair.server())) {
            int send = socket.getSendBufferSize();
            int receive = socket.getReceiveBufferSize();
            socket.setSendBufferSize(50_000);
            socket.setReceiveBufferSize(50_000);
            // Over RDMA they are what they were when it connected.
            assertEquals(kind().hasUrgentData() ? 50_000 : send, socket.getSendBufferSize());
            assertEquals(kind().hasUrgentData() ? 50_000 : receive, socket.getReceiveBufferSize());
        }
        pair.clientOut().write(1);
        assertEquals(1, pair.serverIn().read());
    }

    @Test
    void shouldCarryDataWithTheSmallestBuffers() throws Exception {
        try (ServerSocket server = newServer()) {
            server.setReceiveBufferSize(1);
            server.bind(new InetSocketAddress(host(), 0));
            Socket client = newSocket();
            client.setSendBufferSize(1);
            client.setReceiveBufferSize(1);
            client.connect(server.getLocalSocketAddress());
            Socket accepted = accept(server);
            Work<Void> writer = start(() -> {
                client.getOutputStream().write(new byte[200_000]);
                return null;
            });
            assertEquals(200_000, accepted.getInputStream().readNBytes(200_000).length);
            writer.get();
        }
    }

    @Test
    void shouldKeepOptionsWhenItConnects() throws IOException {
        try (ServerSocket server = listening()) {
            Socket client = newSocket();
            client.setTcpNoDelay(true);
            client.setKeepAlive(true);
            client.setSoLinger(true, 7);
            client.setSoTimeout(99);
            client.setTrafficClass(0x10);
            client.setOOBInline(true);
            client.setReuseAddress(true);
            client.connect(server.getLocalSocketAddress());
            accept(server);
            assertTrue(client.getTcpNoDelay());
            assertTrue(client.getKeepAlive());
            assertEquals(7, client.getSoLinger());
            assertEquals(99, client.getSoTimeout());
            assertEquals(0x10, client.getTrafficClass());
            assertTrue(client.getOOBInline());
            assertTrue(client.getReuseAddress());
            client.setSoLinger(false, 0);
        }
    }

    private static Object anotherValue(SocketOption<?> option, Object value) {
        if (value instanceof Boolean on) {
            return !on;
        }
        return switch (option.name()) {
            case "SO_RCVBUF" -> 50_000;
            case "IP_TOS" -> 0x28;
            default -> 77;
        };
    }

    @SuppressWarnings("unchecked") // the value of an option is of its type
    private static <T> void set(ServerSocket server, SocketOption<T> option, Object value) throws IOException {
        server.setOption(option, (T) value);
    }

    /** Linux makes an accepted socket a copy of the listener, though one that acknowledges quickly. */
    @Test
    void shouldInheritTheOptionsOfTheServer() throws IOException {
        try (ServerSocket server = newServer()) {
            List<SocketOption<?>> inherited = new ArrayList<>(server.supportedOptions());
            inherited.removeIf(
                    each -> Set.of("TCP_QUICKACK", "SO_INCOMING_NAPI_ID").contains(each.name()));
            for (SocketOption<?> option : inherited) {
                set(server, option, anotherValue(option, server.getOption(option)));
            }
            server.bind(new InetSocketAddress(host(), 0));
            connectTo(server);
            Socket accepted = accept(server);
            assertEquals(server.getReuseAddress(), accepted.getReuseAddress());
            assertEquals(0x28, accepted.getTrafficClass());
            for (SocketOption<?> option : inherited) {
                assertEquals(server.getOption(option), accepted.getOption(option), option.name());
            }
        }
    }

    @Test
    void shouldInheritWhatIsSetOnAServerThatListens() throws IOException {
        try (ServerSocket server = listening()) {
            connectTo(server);
            Socket before = accept(server);
            server.setReuseAddress(false);
            server.setOption(StandardSocketOptions.IP_TOS, 0x10);
            connectTo(server);
            Socket after = accept(server);
            assertTrue(before.getReuseAddress());
            assertEquals(0, before.getTrafficClass());
            assertFalse(after.getReuseAddress());
            assertEquals(0x10, after.getTrafficClass());
            after.setReuseAddress(true);
            after.setTrafficClass(0x20);
            assertTrue(after.getOption(StandardSocketOptions.SO_REUSEADDR));
            assertEquals(0x20, after.getOption(StandardSocketOptions.IP_TOS));
        }
    }

    @Test
    void shouldIgnorePerformancePreferences() throws IOException {
        for (Socket socket : sockets()) {
            socket.setPerformancePreferences(1, 2, 3);
        }
        Pair pair = pair();
        pair.client().setPerformancePreferences(1, 2, 3);
        pair.clientOut().write(1);
        assertEquals(1, pair.serverIn().read());
    }

    @Test
    void shouldTakeOptionsFromManyThreadsAtOnce() throws Exception {
        Pair pair = pair();
        List<Work<Void>> work = Stream.of(1, 2, 3, 4)
                .map(n -> start(() -> {
                    for (int i = 0; i < 100; i++) {
                        pair.server().setTcpNoDelay(i % 2 == 0);
                        pair.server().getTcpNoDelay();
                        pair.server().setSoTimeout(n * 1000);
                    }
                    return (Void) null;
                }))
                .toList();
        for (Work<Void> one : work) {
            one.get();
        }
        assertFalse(pair.server().getTcpNoDelay(), "as each of them set it last");
        int timeout = pair.server().getSoTimeout();
        assertTrue(Set.of(1000, 2000, 3000, 4000).contains(timeout), timeout + " ms");
        pair.clientOut().write(1);
        assertEquals(1, pair.serverIn().read());
    }

    // ---- urgent data ----

    @Test
    void shouldNotShowUrgentDataUnlessAskedTo() throws IOException {
        Pair pair = pair();
        pair.clientOut().write(1);
        pair.client().sendUrgentData(0xFF);
        pair.clientOut().write(2);
        assertEquals(1, pair.serverIn().read());
        assertEquals(2, pair.serverIn().read());
    }

    @Test
    void shouldShowUrgentDataInlineWhenAskedTo() throws IOException {
        Pair pair = pair();
        pair.server().setOOBInline(true);
        pair.clientOut().write(1);
        pair.client().sendUrgentData(7);
        pair.clientOut().write(2);
        assertEquals(1, pair.serverIn().read());
        if (kind().hasUrgentData()) {
            assertEquals(7, pair.serverIn().read());
        }
        assertEquals(2, pair.serverIn().read());
    }

    @Test
    void shouldNoticeByUrgentDataThatThePeerIsGone() throws Exception {
        Pair pair = pair();
        pair.server().close();
        assertThrows(IOException.class, () -> {
            for (int i = 0; i < 20_000; i++) {
                pair.client().sendUrgentData(0xFF);
                Thread.sleep(1);
            }
        });
    }

    /** As with a write, the first is what the peer's answer is to. */
    @Test
    void shouldNotLearnFromTheFirstUrgentDataThatThePeerIsGone() throws Exception {
        Pair pair = pair();
        pair.server().close();
        aMoment();
        pair.client().sendUrgentData(1);
        aMoment();
        IOException e = assertThrows(IOException.class, () -> pair.client().sendUrgentData(1));
        assertEquals("java.io.IOException: Broken pipe", e.toString());
    }

    @Test
    void shouldNotSendUrgentDataAfterTheEnd() throws Exception {
        Pair pair = pair();
        pair.client().shutdownOutput();
        IOException e = assertThrows(IOException.class, () -> pair.client().sendUrgentData(1));
        assertEquals("java.io.IOException: Broken pipe", e.toString());
    }

    @Test
    void shouldNotSendUrgentDataUnconnected() throws IOException {
        Socket socket = newSocket();
        assertSocketException("Not connected", () -> socket.sendUrgentData(1));
    }
}
