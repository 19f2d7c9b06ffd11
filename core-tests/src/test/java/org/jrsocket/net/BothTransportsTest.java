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
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import jdk.net.ExtendedSocketOptions;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.net.SocketBehaviour.Work;
import org.jrsocket.stream.RdmaListener;
import org.jrsocket.stream.StreamConfig;
import org.junit.jupiter.api.Test;

/** Sockets of ours and the JDK's on TCP, among each other: one server, and its port, for both. */
class BothTransportsTest extends TwoTransports {

    // ---- one server, both transports ----

    @Test
    void shouldAcceptBothKindsOfClientsOnOnePort() throws Exception {
        TransportContext context = context(null);
        try (ServerSocket server = listening(context, served)) {
            try (Socket client = connected(context, server);
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
        assertEquals(1, context.counts().rdmaConnected());
        assertEquals(1, context.counts().rdmaAccepted());
        assertEquals(1, context.counts().tcpAccepted());
    }

    @Test
    void shouldWakeAWaitingAcceptorForEitherKind() throws Exception {
        TransportContext context = context(null);
        try (ServerSocket server = listening(context, served)) {
            for (int i = 0; i < 6; i++) {
                Work<Socket> acceptor = SocketBehaviour.start(server::accept);
                SocketBehaviour.aMoment();
                try (Socket client = i % 2 == 0 ? plain(server) : connected(context, server);
                        Socket accepted = acceptor.get()) {
                    assertEquals(i % 2 != 0, isRdma(accepted));
                    assertTalks(client, accepted);
                }
            }
        }
    }

    @Test
    void shouldTakeTurnsWhenBothKindsWait() throws Exception {
        TransportContext context = context(null);
        List<Socket> open = new ArrayList<>();
        try (ServerSocket server = listening(context, served);
                ServerSocket last = listening(context, served)) {
            for (int i = 0; i < 4; i++) {
                open.add(connected(context, server));
                open.add(plain(server));
            }
            // An RDMA connection reaches the queue a little after its client has it, but one after the other.
            open.add(connected(context, last));
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
        TransportContext context = context("connect.timeout=50s");
        int each = 20;
        try (ServerSocket server = listening(context, served)) {
            List<Work<Boolean>> clients = new ArrayList<>();
            for (int i = 0; i < 2 * each; i++) {
                boolean rdma = i % 2 == 0;
                clients.add(SocketBehaviour.start(() -> {
                    try (Socket client = rdma ? connected(context, server) : plain(server)) {
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
        TransportContext context = context(null);
        try (ServerSocket server = listening(context, served)) {
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
        TransportContext context = context(null);
        try (ServerSocket server = listening(context, served)) {
            Socket gone = plain(server);
            gone.setSoLinger(true, 0);
            gone.close();
            try (Socket client = connected(context, server)) {
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
        TransportContext context = context("policy=rdma");
        try (ServerSocket server = SocketKind.over(context, true).serverSocket()) {
            server.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 1);
            server.bind(new InetSocketAddress(served, 0));
            try (Socket client = connected(context, server);
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
        TransportContext context = context(null);
        class Accepting extends ServerSocket {
            Accepting() {
                super(new RServerSocketImpl(context));
            }

            void acceptWith(Socket socket) throws IOException {
                implAccept(socket);
            }
        }

        try (Accepting server = new Accepting()) {
            server.bind(new InetSocketAddress(served, 0));
            for (int i = 0; i < 2; i++) {
                Socket mine = socket(context);
                mine.setSoTimeout(77);
                try (Socket client = i == 0 ? plain(server) : connected(context, server)) {
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

    // ---- ports ----

    @Test
    void shouldListenOverTcpAloneWhereThePortIsTakenOverRdma() throws Exception {
        try (RdmaListener other = listeningOverRdmaAlone()) {
            InetSocketAddress taken = other.localAddress();
            TransportContext context = context(null);
            try (ServerSocket server = SocketKind.over(context, true).serverSocket()) {
                server.bind(taken);
                try (Socket client = plain(server);
                        Socket accepted = server.accept()) {
                    assertTalks(client, accepted);
                }
            }
            TransportContext strict = context("policy=rdma");
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

    /** Who asks while another thread connects gets the old answers or the new ones, and none in between. */
    @Test
    void shouldHaveItsPortAtEachMomentOfAConnect() throws Exception {
        TransportContext context = context(null);
        AtomicReference<Socket> connecting = new AtomicReference<>();
        AtomicInteger withoutPort = new AtomicInteger();
        AtomicBoolean done = new AtomicBoolean();
        Thread curious = new Thread(() -> {
            while (!done.get()) {
                Socket socket = connecting.get();
                if (socket == null) {
                    Thread.onSpinWait();
                } else if (socket.getLocalPort() == 0) {
                    withoutPort.incrementAndGet();
                }
            }
        });
        curious.start();
        try (ServerSocket server = listening(context, served)) {
            for (int i = 0; i < 500; i++) {
                try (Socket client = socket(context)) {
                    client.bind(new InetSocketAddress(served, 0));
                    connecting.set(client);
                    client.connect(server.getLocalSocketAddress());
                    connecting.set(null);
                    assertTrue(isRdma(client));
                    server.accept().close();
                }
            }
        } finally {
            done.set(true);
            curious.join();
        }
        assertEquals(0, withoutPort.get());
    }

    @Test
    void shouldGiveUpBothPortsWhenClosed() throws Exception {
        TransportContext context = context(null);
        ServerSocket server = listening(context, served);
        int port = server.getLocalPort();
        server.close();
        transport
                .listen(new InetSocketAddress(served, port), 5, StreamConfig.DEFAULT)
                .close();
        new ServerSocket(port, 50, served).close();
    }
}
