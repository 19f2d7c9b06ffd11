/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import jdk.net.ExtendedSocketOptions;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TcpReason;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.net.SocketBehaviour.Work;
import org.jrsocket.stream.RdmaListener;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.verbs.loopback.Reachability;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;

/** Sockets of ours, over loopback verbs, and the JDK's on TCP, among each other: who gets which transport. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BothTransportsTest {

    private static final String PATIENT = "connect.timeout=50s";

    private LoopbackProvider verbs;
    private RdmaTransport transport;
    private InetAddress served;
    private InetAddress unserved;
    private InetAddress silent;

    @BeforeEach
    void open() throws IOException {
        verbs = new LoopbackProvider(new LoopbackConfig().cmTimeoutMillis(60_000));
        served = InetAddress.getByName("127.0.0.1");
        unserved = InetAddress.getByName("127.0.0.2");
        silent = InetAddress.getByName("127.0.0.3");
        verbs.place(silent, Reachability.SILENT);
        transport = RdmaTransport.over(verbs);
    }

    @AfterEach
    void close() {
        transport.close();
        verbs.assertClean();
        verbs.close();
    }

    /** With patience: a busy machine is not a silent peer. */
    private TransportContext stack(String settings) throws Exception {
        String patient =
                settings == null ? PATIENT : settings.contains("connect.timeout") ? settings : PATIENT + ',' + settings;
        return new TransportContext(
                Settings.read(patient, new Properties(), Map.of()), Rules.NONE, TransportHolder.of(transport));
    }

    private static Socket socket(TransportContext stack) throws IOException {
        return SocketKind.over(stack, true).socket();
    }

    private static Socket connected(TransportContext stack, ServerSocket server) throws IOException {
        Socket socket = socket(stack);
        socket.connect(server.getLocalSocketAddress());
        return socket;
    }

    private static Socket plain(ServerSocket server) throws IOException {
        return new Socket(server.getInetAddress(), server.getLocalPort());
    }

    private static ServerSocket listening(TransportContext stack, InetAddress address) throws IOException {
        ServerSocket server = SocketKind.over(stack, true).serverSocket();
        server.bind(new InetSocketAddress(address, 0));
        return server;
    }

    private static ServerSocket plainServer(InetAddress address) throws IOException {
        return new ServerSocket(0, 50, address);
    }

    private static boolean isRdma(Socket socket) {
        return ((SocketKind.OurSocket) socket).isRdma();
    }

    private static void assertTalks(Socket one, Socket other) throws IOException {
        one.getOutputStream().write(1);
        assertEquals(1, other.getInputStream().read());
        other.getOutputStream().write(2);
        assertEquals(2, one.getInputStream().read());
    }

    // ---- one server, both transports ----

    @Test
    void shouldAcceptBothKindsOfClientsOnOnePort() throws Exception {
        TransportContext stack = stack(null);
        try (ServerSocket server = listening(stack, served)) {
            try (Socket client = connected(stack, server);
                    Socket accepted = server.accept()) {
                assertTrue(isRdma(client));
                assertTrue(isRdma(accepted));
                assertTalks(client, accepted);
            }
            try (Socket client = plain(server);
                    Socket accepted = server.accept()) {
                assertFalse(isRdma(accepted));
                assertTalks(client, accepted);
            }
        }
        assertEquals(1, stack.counts().rdmaConnected());
        assertEquals(1, stack.counts().rdmaAccepted());
        assertEquals(1, stack.counts().tcpAccepted());
    }

    @Test
    void shouldWakeAWaitingAcceptorForEitherKind() throws Exception {
        TransportContext stack = stack(null);
        try (ServerSocket server = listening(stack, served)) {
            for (int i = 0; i < 6; i++) {
                Work<Socket> acceptor = SocketBehaviour.start(server::accept);
                SocketBehaviour.aMoment();
                try (Socket client = i % 2 == 0 ? plain(server) : connected(stack, server);
                        Socket accepted = acceptor.get()) {
                    assertEquals(i % 2 != 0, isRdma(accepted));
                    assertTalks(client, accepted);
                }
            }
        }
    }

    @Test
    void shouldTakeTurnsWhenBothKindsWait() throws Exception {
        TransportContext stack = stack(null);
        List<Socket> open = new ArrayList<>();
        try (ServerSocket server = listening(stack, served);
                ServerSocket last = listening(stack, served)) {
            for (int i = 0; i < 4; i++) {
                open.add(connected(stack, server));
                open.add(plain(server));
            }
            // An RDMA connection reaches the queue a little after its client has it, but one after the other.
            open.add(connected(stack, last));
            open.add(last.accept());
            int overRdma = 0;
            for (int i = 0; i < 4; i++) {
                Socket accepted = server.accept();
                open.add(accepted);
                overRdma += isRdma(accepted) ? 1 : 0;
            }
            assertTrue(overRdma > 0 && overRdma < 4, overRdma + " of the first 4");
        } finally {
            for (Socket one : open) {
                one.close();
            }
        }
    }

    @Test
    void shouldServeManyOfBothKindsAtOnce() throws Exception {
        TransportContext stack = stack("connect.timeout=50s");
        int each = 20;
        try (ServerSocket server = listening(stack, served)) {
            List<Work<Boolean>> clients = new ArrayList<>();
            for (int i = 0; i < 2 * each; i++) {
                boolean rdma = i % 2 == 0;
                clients.add(SocketBehaviour.start(() -> {
                    try (Socket client = rdma ? connected(stack, server) : plain(server)) {
                        client.getOutputStream().write(7);
                        return client.getInputStream().read() == 8;
                    }
                }));
            }
            int overRdma = 0;
            for (int i = 0; i < 2 * each; i++) {
                try (Socket accepted = server.accept()) {
                    overRdma += isRdma(accepted) ? 1 : 0;
                    assertEquals(7, accepted.getInputStream().read());
                    accepted.getOutputStream().write(8);
                }
            }
            for (Work<Boolean> client : clients) {
                assertTrue(client.get());
            }
            assertEquals(each, overRdma);
        }
    }

    @Test
    void shouldEndTheWaitOfATimedAcceptForTcp() throws Exception {
        TransportContext stack = stack(null);
        try (ServerSocket server = listening(stack, served)) {
            server.setSoTimeout(100);
            assertThrows(SocketTimeoutException.class, server::accept);
            server.setSoTimeout(40_000);
            assertEquals(40_000, server.getSoTimeout());
            Work<Socket> acceptor = SocketBehaviour.start(server::accept);
            SocketBehaviour.aMoment();
            try (Socket client = plain(server);
                    Socket accepted = acceptor.get()) {
                assertTalks(client, accepted);
                assertEquals(0, accepted.getSoTimeout());
            }
        }
    }

    @Test
    void shouldSurviveATcpClientThatGoesBeforeItIsAccepted() throws Exception {
        TransportContext stack = stack(null);
        try (ServerSocket server = listening(stack, served)) {
            Socket gone = plain(server);
            gone.setSoLinger(true, 0);
            gone.close();
            try (Socket client = connected(stack, server)) {
                List<Socket> accepted = new ArrayList<>();
                do {
                    accepted.add(server.accept());
                } while (!isRdma(accepted.get(accepted.size() - 1)));
                assertTalks(client, accepted.get(accepted.size() - 1));
                for (Socket one : accepted) {
                    one.close();
                }
            }
        }
    }

    /** Once both ends are idle, only a probe can meet the broken path. */
    @Test
    void shouldProbeAsOftenAsTheServerSaid() throws Exception {
        TransportContext stack = stack("policy=rdma");
        try (ServerSocket server = SocketKind.over(stack, true).serverSocket()) {
            server.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 1);
            server.bind(new InetSocketAddress(served, 0));
            try (Socket client = connected(stack, server);
                    Socket accepted = server.accept()) {
                client.getOutputStream().write(1);
                assertEquals(1, accepted.getInputStream().read());
                accepted.setKeepAlive(true);
                verbs.faults().breakAfter(0);
                assertThrows(
                        SocketException.class, () -> accepted.getInputStream().read());
            }
        }
    }

    @Test
    void shouldKeepAnAcceptingSocketsTimeout() throws Exception {
        TransportContext stack = stack(null);
        class Accepting extends ServerSocket {
            Accepting() {
                super(new RServerSocketImpl(stack));
            }

            void acceptWith(Socket socket) throws IOException {
                implAccept(socket);
            }
        }

        try (Accepting server = new Accepting()) {
            server.bind(new InetSocketAddress(served, 0));
            for (int i = 0; i < 2; i++) {
                Socket mine = socket(stack);
                mine.setSoTimeout(77);
                try (Socket client = i == 0 ? plain(server) : connected(stack, server)) {
                    server.acceptWith(mine);
                    assertEquals(i == 1, isRdma(mine));
                    assertEquals(77, mine.getSoTimeout());
                    assertTrue(mine.isConnected());
                    assertTalks(client, mine);
                    mine.close();
                }
            }
            assertThrows(IOException.class, () -> server.acceptWith(new Socket()), "a socket of the JDK's");
        }
    }

    // ---- falling back ----

    @Test
    void shouldFallBackToAServerWithoutRdma() throws Exception {
        TransportContext stack = stack(null);
        try (ServerSocket server = plainServer(served)) {
            for (int i = 0; i < 3; i++) {
                try (Socket client = connected(stack, server);
                        Socket accepted = server.accept()) {
                    assertFalse(isRdma(client));
                    assertTalks(client, accepted);
                }
            }
        }
        assertEquals(1, stack.counts().tcpChosen(TcpReason.REFUSED));
        assertEquals(2, stack.counts().tcpChosen(TcpReason.REMEMBERED));
    }

    @Test
    void shouldUseRdmaAgainOnceTheRefusalIsForgotten() throws Exception {
        TransportContext stack = stack("memory.rejected=50ms");
        int port;
        try (ServerSocket server = plainServer(served);
                Socket client = connected(stack, server)) {
            assertFalse(isRdma(client));
            port = server.getLocalPort();
        }
        Thread.sleep(100);
        try (ServerSocket server = SocketKind.over(stack, true).serverSocket()) {
            server.bind(new InetSocketAddress(served, port));
            try (Socket client = connected(stack, server)) {
                assertTrue(isRdma(client));
            }
        }
    }

    @Test
    void shouldPayOnceForAHostThatDoesNotAnswer() throws Exception {
        TransportContext stack = stack("connect.timeout=200ms");
        try (ServerSocket server = plainServer(silent)) {
            for (int i = 0; i < 3; i++) {
                try (Socket client = connected(stack, server);
                        Socket accepted = server.accept()) {
                    assertFalse(isRdma(client));
                    assertTalks(client, accepted);
                }
            }
        }
        assertEquals(1, stack.counts().tcpChosen(TcpReason.TIMEOUT));
        assertEquals(2, stack.counts().tcpChosen(TcpReason.REMEMBERED));
    }

    @Test
    void shouldKeepWithinTheCallersTime() throws Exception {
        TransportContext stack = stack("connect.timeout=1h");
        try (ServerSocket server = plainServer(silent);
                Socket client = socket(stack)) {
            client.connect(server.getLocalSocketAddress(), 1_000);
            assertFalse(isRdma(client));
        }
    }

    @Test
    void shouldUseTcpWhereNoDeviceLeads() throws Exception {
        TransportContext stack = stack(null);
        try (ServerSocket server = listening(stack, unserved);
                Socket client = connected(stack, server);
                Socket accepted = server.accept()) {
            assertFalse(isRdma(client));
            assertFalse(isRdma(accepted));
            assertTalks(client, accepted);
        }
        assertEquals(1, stack.counts().tcpChosen(TcpReason.NO_DEVICE));
    }

    @Test
    void shouldThrowWhatTcpThrowsWhenBothFail() throws Exception {
        TransportContext stack = stack(null);
        InetSocketAddress nobody;
        try (ServerSocket server = plainServer(served)) {
            nobody = (InetSocketAddress) server.getLocalSocketAddress();
        }
        ConnectException plain = assertThrows(ConnectException.class, () -> new Socket().connect(nobody));
        ConnectException ours =
                assertThrows(ConnectException.class, () -> socket(stack).connect(nobody));
        assertEquals(plain.getClass(), ours.getClass());
        assertEquals(plain.getMessage(), ours.getMessage());
    }

    // ---- policies ----

    @Test
    void shouldNotUseTcpWhereThePolicyIsRdma() throws Exception {
        TransportContext stack = stack("policy=rdma");
        try (ServerSocket server = plainServer(served);
                Socket client = socket(stack)) {
            assertThrows(ConnectException.class, () -> client.connect(server.getLocalSocketAddress()));
            assertEquals(Runtime.version().feature() > 17, client.isClosed());
        }
        try (ServerSocket server = listening(stack, served)) {
            assertThrows(ConnectException.class, () -> plain(server));
            try (Socket client = connected(stack, server);
                    Socket accepted = server.accept()) {
                assertTalks(client, accepted);
            }
            server.setSoTimeout(50);
            assertThrows(SocketTimeoutException.class, server::accept);
        }
        assertThrows(SocketException.class, () -> listening(stack, unserved));
    }

    @Test
    void shouldNotUseRdmaWhereThePolicyIsTcp() throws Exception {
        TransportContext auto = stack(null);
        TransportContext tcp = stack("policy=tcp");
        try (ServerSocket server = listening(auto, served);
                Socket client = connected(tcp, server);
                Socket accepted = server.accept()) {
            assertFalse(isRdma(client));
            assertFalse(isRdma(accepted));
        }
        try (ServerSocket server = listening(tcp, served);
                Socket client = connected(auto, server);
                Socket accepted = server.accept()) {
            assertFalse(isRdma(client));
            assertFalse(isRdma(accepted));
        }
    }

    @Test
    void shouldFollowTheRulesOfAFile(@TempDir Path folder) throws Exception {
        try (ServerSocket one = listening(stack(null), served);
                ServerSocket other = listening(stack(null), served)) {
            Path file = Files.writeString(folder.resolve("rules"), "connect 127.0.0.0/8 " + one.getLocalPort() + "\n");
            Settings settings = Settings.read("rules=" + file, new Properties(), Map.of());
            TransportContext stack = TransportContext.open(settings, TransportHolder.of(transport));
            try (Socket first = connected(stack, one);
                    Socket second = connected(stack, other)) {
                assertTrue(isRdma(first));
                assertFalse(isRdma(second));
            }
        }
    }

    @Test
    void shouldTimeOutWhereThePolicyIsRdmaAndNobodyAnswers() throws Exception {
        TransportContext stack = stack("policy=rdma");
        try (Socket client = socket(stack)) {
            SocketTimeoutException e = assertThrows(
                    SocketTimeoutException.class, () -> client.connect(new InetSocketAddress(silent, 80), 100));
            assertEquals("Connect timed out", e.getMessage());
        }
    }

    @Test
    void shouldEndAnAttemptByClosing() throws Exception {
        TransportContext stack = stack("policy=rdma");
        Socket client = socket(stack);
        Work<Void> connecting = SocketBehaviour.start(() -> {
            client.connect(new InetSocketAddress(silent, 80));
            return null;
        });
        SocketBehaviour.awaitWaiting(connecting);
        client.close();
        SocketBehaviour.assertSocketException("Socket closed", connecting::get);
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void shouldEndAVirtualThreadsAttemptByInterrupt() throws Exception {
        TransportContext stack = stack("policy=rdma");
        Socket client = socket(stack);
        Work<Boolean> connecting = SocketBehaviour.startVirtual(() -> {
            SocketBehaviour.assertSocketException(
                    "Closed by interrupt", () -> client.connect(new InetSocketAddress(silent, 80)));
            return Thread.interrupted();
        });
        SocketBehaviour.awaitWaiting(connecting);
        connecting.thread.interrupt();
        assertTrue(connecting.get());
        assertTrue(client.isClosed());
    }

    // ---- ports ----

    @Test
    void shouldListenOverTcpAloneWhereThePortIsTakenOverRdma() throws Exception {
        try (RdmaListener other = listeningOverRdmaAlone()) {
            InetSocketAddress taken = other.localAddress();
            TransportContext stack = stack(null);
            try (ServerSocket server = SocketKind.over(stack, true).serverSocket()) {
                server.bind(taken);
                try (Socket client = plain(server);
                        Socket accepted = server.accept()) {
                    assertTalks(client, accepted);
                }
            }
            TransportContext strict = stack("policy=rdma");
            try (ServerSocket server = SocketKind.over(strict, true).serverSocket()) {
                assertThrows(BindException.class, () -> server.bind(taken));
            }
        }
    }

    /**
     * On a port that nobody has over TCP: the two have their own, and the one chosen here may be some client's there.
     */
    private RdmaListener listeningOverRdmaAlone() throws IOException {
        for (int attempts = 0; attempts < 100; attempts++) {
            RdmaListener listener = transport.listen(new InetSocketAddress(served, 0), 5, StreamConfig.DEFAULT);
            try (ServerSocket free = new ServerSocket()) {
                free.bind(listener.localAddress());
                return listener;
            } catch (BindException alsoTaken) {
                listener.close();
            }
        }
        throw new BindException("100 ports in turn are taken over TCP");
    }

    @Test
    void shouldGiveUpBothPortsWhenClosed() throws Exception {
        TransportContext stack = stack(null);
        ServerSocket server = listening(stack, served);
        int port = server.getLocalPort();
        server.close();
        transport
                .listen(new InetSocketAddress(served, port), 5, StreamConfig.DEFAULT)
                .close();
        new ServerSocket(port, 50, served).close();
    }
}
