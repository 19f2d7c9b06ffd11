/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Future;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.nio.NioKind;
import org.jrsocket.nio.RSelectorProvider;
import org.jrsocket.nio.ScarceVerbs;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.junit.jupiter.api.Test;

/** Which transport asynchronous channels get, and what a process without RDMA gets. */
class AioTransportTest extends LoopbackAioTests {

    private static RAsynchronousChannelProvider withoutRdma(Rules rules) throws Exception {
        TransportHolder none = TransportHolder.unavailable(
                new VerbsUnavailableException(VerbsUnavailableException.Reason.NO_DEVICE, "no RDMA device", null));
        TransportContext context =
                new TransportContext(Settings.read("policy=auto", new Properties(), Map.of()), rules, none);
        return new RAsynchronousChannelProvider(new RSelectorProvider(context, none));
    }

    @Test
    void shouldHandOutTheJdksOwnWithoutRdma() throws Exception {
        RAsynchronousChannelProvider provider = withoutRdma(Rules.NONE);
        AsynchronousChannelGroup group = ending(provider.openAsynchronousChannelGroup(1, daemons("jdk")));
        for (AsynchronousChannelGroup each : new AsynchronousChannelGroup[] {null, group}) {
            AsynchronousSocketChannel client = closing(provider.openAsynchronousSocketChannel(each));
            AsynchronousServerSocketChannel server = closing(provider.openAsynchronousServerSocketChannel(each));
            for (Object one : new Object[] {group, client, server}) {
                assertEquals("sun.nio.ch", one.getClass().getPackageName());
            }
        }
    }

    @Test
    void shouldRefuseToConnectWithoutRdmaWhereARuleDemandsIt() throws Exception {
        RAsynchronousChannelProvider provider = withoutRdma(NioKind.rules("connect 127.0.0.2 * rdma\n"));
        AsynchronousSocketChannel client = closing(provider.openAsynchronousSocketChannel(null));
        Future<Void> connecting = client.connect(new InetSocketAddress("127.0.0.2", 1));
        assertThrows(ConnectException.class, () -> get(connecting));
        assertFalse(client.isOpen());
        AsynchronousSocketChannel other = closing(provider.openAsynchronousSocketChannel(null));
        Told<Void> told = new Told<>();
        other.connect(new InetSocketAddress("127.0.0.2", 1), null, told);
        assertThrows(ConnectException.class, told::get);
        assertFalse(other.isOpen());
    }

    @Test
    void shouldCarryTcpWithoutRdmaWhereNoRuleDemandsIt() throws Exception {
        RAsynchronousChannelProvider provider = withoutRdma(NioKind.rules("connect 127.0.0.2 * rdma\n"));
        AsynchronousServerSocketChannel listener =
                closing(provider.openAsynchronousServerSocketChannel(null)).bind(new InetSocketAddress("127.0.0.1", 0));
        AsynchronousSocketChannel client = closing(provider.openAsynchronousSocketChannel(null));
        var accepting = listener.accept();
        get(client.connect(listener.getLocalAddress()));
        AsynchronousSocketChannel server = closing(get(accepting));
        get(client.write(text("tcp")));
        assertEquals("tcp", read(server, 3));
    }

    @Test
    void shouldRefuseToListenWithoutRdmaWhereARuleDemandsIt() throws Exception {
        RAsynchronousChannelProvider provider = withoutRdma(NioKind.rules("bind 127.0.0.2 * rdma\n"));
        AsynchronousServerSocketChannel listener = closing(provider.openAsynchronousServerSocketChannel(null));
        assertThrows(SocketException.class, () -> listener.bind(new InetSocketAddress("127.0.0.2", 0)));
    }

    @Test
    void shouldUseRdmaInAGroupThatWasOpenedBeforeItCouldBeStarted() throws Exception {
        try (ScarceVerbs verbs = new ScarceVerbs()) {
            RAsynchronousChannelProvider provider = new RAsynchronousChannelProvider(verbs.selectors());
            AsynchronousChannelGroup group = ending(provider.openAsynchronousChannelGroup(1, daemons("early")));
            verbs.relieve();
            AsynchronousServerSocketChannel listener =
                    closing(provider.openAsynchronousServerSocketChannel(group)).bind(anyPort());
            AsynchronousSocketChannel client = closing(provider.openAsynchronousSocketChannel(group));
            var accepting = listener.accept();
            get(client.connect(listener.getLocalAddress()));
            AsynchronousSocketChannel server = closing(get(accepting));
            AioKind.assertOverRdma(client);
            get(client.write(text("early")));
            assertEquals("early", read(server, 5));
            closeAll();
        }
    }

    @Test
    void shouldServeClientsOfBothTransports() throws Exception {
        AsynchronousServerSocketChannel listener = listening();
        for (int i = 0; i < 3; i++) {
            var accepting = listener.accept();
            try (Socket plain = new Socket()) {
                plain.connect(listener.getLocalAddress());
                AsynchronousSocketChannel overTcp = closing(get(accepting));
                assertFalse(overTcp.toString().contains("RDMA"), overTcp::toString);
                get(overTcp.write(text("tcp")));
                assertEquals("tcp", new String(plain.getInputStream().readNBytes(3), StandardCharsets.US_ASCII));
                AsynchronousSocketChannel client = open();
                get(client.connect(listener.getLocalAddress()));
                AsynchronousSocketChannel overRdma = closing(get(listener.accept()));
                AioKind.assertOverRdma(overRdma);
                var reading = overTcp.read(ByteBuffer.allocate(1));
                get(client.write(text("rdma")));
                assertEquals("rdma", read(overRdma, 4));
                plain.shutdownOutput();
                assertEquals(-1, get(reading));
            }
        }
    }

    @Test
    void shouldHaveOneDefaultGroup() throws Exception {
        assertSame(kind().provider(), open().provider());
        AsynchronousSocketChannel one = open();
        Pair pair = pair();
        assertTrue(one.isOpen() && pair.client().isOpen());
        assertEquals(
                "java.nio.channels.AsynchronousSocketChannel[unconnected]",
                one.toString().replaceAll(" local=.*]", "]"));
    }
}
