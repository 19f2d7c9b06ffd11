/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import jdk.net.ExtendedSocketOptions;
import org.jrsocket.stream.StreamConfig;
import org.junit.jupiter.api.Test;

/** A connection accepted over RDMA has a socket of the kernel's only for options that need one. */
class AcceptedOptionsTest extends LoopbackChannelTests {

    private static boolean hasTcp(SocketChannel channel) {
        return ((RSocketChannel) channel).options().hasTcp();
    }

    /** As servers of Netty, Kafka and Tomcat set them. */
    private static void setUsual(SocketChannel channel) throws IOException {
        Socket socket = channel.socket();
        socket.setTcpNoDelay(true);
        socket.setKeepAlive(true);
        socket.setReuseAddress(true);
        socket.setSoLinger(true, 3);
        socket.setSoTimeout(1000);
        channel.setOption(StandardSocketOptions.SO_SNDBUF, 100_000);
        channel.setOption(StandardSocketOptions.SO_RCVBUF, 100_000);
    }

    @Test
    void shouldNeedNoSocketForTheUsualOptions() throws IOException {
        SocketChannel server = pair().server();
        for (var name : open().supportedOptions()) {
            assertTrue(server.supportedOptions().contains(name), name.name());
        }
        assertEquals(0, server.getOption(StandardSocketOptions.IP_TOS));
        setUsual(server);
        assertTrue(server.getOption(StandardSocketOptions.TCP_NODELAY));
        assertTrue(server.getOption(StandardSocketOptions.SO_KEEPALIVE));
        assertTrue(server.getOption(StandardSocketOptions.SO_REUSEADDR));
        assertEquals(3, server.getOption(StandardSocketOptions.SO_LINGER));
        StreamConfig config = ((RSocketChannel) server).stream().config();
        assertEquals(config.sendBuffer(), server.getOption(StandardSocketOptions.SO_SNDBUF));
        assertEquals(config.receiveBuffer(), server.getOption(StandardSocketOptions.SO_RCVBUF));
        assertTrue(config.sendBuffer() != 100_000 && config.receiveBuffer() != 100_000); // settled before it was set
        server.setOption(StandardSocketOptions.SO_LINGER, 100_000);
        assertEquals(65535, server.getOption(StandardSocketOptions.SO_LINGER));
        server.setOption(StandardSocketOptions.SO_LINGER, -7);
        assertEquals(-1, server.getOption(StandardSocketOptions.SO_LINGER));
        assertFalse(hasTcp(server));
        server.close();
        assertThrows(ClosedChannelException.class, () -> server.getOption(StandardSocketOptions.TCP_NODELAY));
        assertThrows(ClosedChannelException.class, () -> server.setOption(StandardSocketOptions.TCP_NODELAY, true));
        assertFalse(hasTcp(server));
    }

    @Test
    void shouldKeepTheUsualOptionsWhenAnotherNeedsASocket() throws IOException {
        SocketChannel server = pair().server();
        setUsual(server);
        server.setOption(StandardSocketOptions.IP_TOS, 0x10);
        assertTrue(hasTcp(server));
        assertEquals(0x10, server.getOption(StandardSocketOptions.IP_TOS));
        assertTrue(server.getOption(StandardSocketOptions.TCP_NODELAY));
        assertTrue(server.getOption(StandardSocketOptions.SO_KEEPALIVE));
        assertEquals(3, server.getOption(StandardSocketOptions.SO_LINGER));
    }

    @Test
    void shouldHaveTheKernelCheckWhatIsUnusual() throws IOException {
        SocketChannel server = pair().server();
        assertThrows(IllegalArgumentException.class, () -> server.setOption(StandardSocketOptions.SO_SNDBUF, -1));
        assertThrows(IllegalArgumentException.class, () -> server.setOption(StandardSocketOptions.TCP_NODELAY, null));
        assertThrows(
                UnsupportedOperationException.class, () -> server.setOption(StandardSocketOptions.IP_MULTICAST_TTL, 1));
    }

    /** Once both ends are idle, only a probe can meet the broken path. */
    @Test
    void shouldProbeAsOftenAsTheListenerSaid() throws IOException {
        ServerSocketChannel listener = openServer();
        listener.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 1);
        listener.bind(anyPort());
        SocketChannel client = open();
        client.connect(listener.getLocalAddress());
        SocketChannel accepted = closing(listener.accept());
        client.write(ByteBuffer.allocate(1));
        assertEquals(1, accepted.read(ByteBuffer.allocate(1)));
        accepted.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        assertEquals(1, accepted.getOption(ExtendedSocketOptions.TCP_KEEPIDLE));
        assertFalse(hasTcp(accepted));
        kind.verbs.faults().breakAfter(0);
        assertThrows(IOException.class, () -> accepted.read(ByteBuffer.allocate(1)));
    }
}
