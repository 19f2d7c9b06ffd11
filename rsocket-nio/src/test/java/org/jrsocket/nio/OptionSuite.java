/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Options of channels, before and after connecting. */
abstract class OptionSuite extends NioSuite {

    private static <T> void assertKept(SocketChannel channel, SocketOption<T> name, T value) throws IOException {
        assertSame(channel, channel.setOption(name, value));
        assertEquals(value, channel.getOption(name), name.name());
    }

    private static void assertAllKept(SocketChannel channel) throws IOException {
        assertKept(channel, StandardSocketOptions.TCP_NODELAY, true);
        assertKept(channel, StandardSocketOptions.TCP_NODELAY, false);
        assertKept(channel, StandardSocketOptions.SO_KEEPALIVE, true);
        assertKept(channel, StandardSocketOptions.SO_KEEPALIVE, false);
        assertKept(channel, StandardSocketOptions.SO_REUSEADDR, true);
        assertKept(channel, StandardSocketOptions.SO_LINGER, 5);
        assertKept(channel, StandardSocketOptions.SO_LINGER, 0);
        assertKept(channel, StandardSocketOptions.SO_LINGER, -1);
    }

    @Test
    void shouldKeepOptionsBeforeConnecting() throws IOException {
        assertAllKept(open());
    }

    @Test
    void shouldKeepOptionsOnceConnected() throws IOException {
        Pair p = pair();
        assertAllKept(p.client());
        assertAllKept(p.server());
    }

    @Test
    void shouldKeepOptionsAcrossConnecting() throws IOException {
        ServerSocketChannel listener = listening();
        SocketChannel client = open();
        client.setOption(StandardSocketOptions.TCP_NODELAY, true);
        client.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        client.setOption(StandardSocketOptions.SO_LINGER, 3);
        client.connect(listener.getLocalAddress());
        assertTrue(client.getOption(StandardSocketOptions.TCP_NODELAY));
        assertTrue(client.getOption(StandardSocketOptions.SO_KEEPALIVE));
        assertEquals(3, client.getOption(StandardSocketOptions.SO_LINGER));
    }

    @Test
    void shouldHaveTheDefaultsOfThePlatform() throws IOException {
        Pair p = pair();
        for (SocketChannel channel : new SocketChannel[] {p.client(), p.server()}) {
            assertFalse(channel.getOption(StandardSocketOptions.TCP_NODELAY));
            assertFalse(channel.getOption(StandardSocketOptions.SO_KEEPALIVE));
            assertEquals(-1, channel.getOption(StandardSocketOptions.SO_LINGER));
            assertTrue(channel.getOption(StandardSocketOptions.SO_SNDBUF) > 0);
            assertTrue(channel.getOption(StandardSocketOptions.SO_RCVBUF) > 0);
            assertEquals(0, channel.getOption(StandardSocketOptions.IP_TOS));
        }
    }

    @Test
    void shouldTakeBufferSizes() throws IOException {
        ServerSocketChannel listener = listening();
        SocketChannel client = open();
        client.setOption(StandardSocketOptions.SO_SNDBUF, 65536);
        client.setOption(StandardSocketOptions.SO_RCVBUF, 65536);
        assertEquals(65536, client.getOption(StandardSocketOptions.SO_SNDBUF));
        assertEquals(65536, client.getOption(StandardSocketOptions.SO_RCVBUF));
        client.connect(listener.getLocalAddress());
        assertEquals(65536, client.getOption(StandardSocketOptions.SO_SNDBUF));
        assertEquals(65536, client.getOption(StandardSocketOptions.SO_RCVBUF));
        client.setOption(StandardSocketOptions.SO_SNDBUF, 32768);
        client.setOption(StandardSocketOptions.SO_RCVBUF, 32768);
        int settled = kind().isRdma() ? 65536 : 32768; // over RDMA when it connected
        assertEquals(settled, client.getOption(StandardSocketOptions.SO_SNDBUF));
        assertEquals(settled, client.getOption(StandardSocketOptions.SO_RCVBUF));
    }

    @Test
    void shouldTakeATypeOfService() throws IOException {
        SocketChannel client = open();
        client.setOption(StandardSocketOptions.IP_TOS, 0x10);
        assertEquals(0x10, client.getOption(StandardSocketOptions.IP_TOS));
        client.connect(listening().getLocalAddress());
        assertEquals(0x10, client.getOption(StandardSocketOptions.IP_TOS));
    }

    @Test
    void shouldRefuseValuesThatMakeNoSense() throws IOException {
        Pair p = pair();
        for (SocketChannel channel : new SocketChannel[] {open(), p.client(), p.server()}) {
            assertThrows(IllegalArgumentException.class, () -> channel.setOption(StandardSocketOptions.SO_SNDBUF, -1));
            assertThrows(IllegalArgumentException.class, () -> channel.setOption(StandardSocketOptions.SO_RCVBUF, -1));
            assertThrows(IllegalArgumentException.class, () -> channel.setOption(StandardSocketOptions.IP_TOS, 256));
            assertThrows(
                    IllegalArgumentException.class, () -> channel.setOption(StandardSocketOptions.TCP_NODELAY, null));
        }
    }

    @Test
    void shouldRefuseOptionsOfOtherChannels() throws IOException {
        Pair p = pair();
        for (SocketChannel channel : new SocketChannel[] {open(), p.client(), p.server()}) {
            assertThrows(
                    UnsupportedOperationException.class,
                    () -> channel.setOption(StandardSocketOptions.IP_MULTICAST_TTL, 1));
            assertThrows(
                    UnsupportedOperationException.class,
                    () -> channel.getOption(StandardSocketOptions.IP_MULTICAST_TTL));
            assertThrows(NullPointerException.class, () -> channel.setOption(null, 1));
            assertThrows(NullPointerException.class, () -> channel.getOption(null));
        }
    }

    @Test
    void shouldHaveNoOptionsOnceClosed() throws IOException {
        Pair p = pair();
        p.client().close();
        p.server().close();
        for (SocketChannel channel : new SocketChannel[] {p.client(), p.server()}) {
            assertThrows(
                    ClosedChannelException.class, () -> channel.setOption(StandardSocketOptions.TCP_NODELAY, true));
            assertThrows(ClosedChannelException.class, () -> channel.getOption(StandardSocketOptions.TCP_NODELAY));
        }
    }

    @Test
    void shouldListItsOptions() throws IOException {
        Set<SocketOption<?>> options = pair().server().supportedOptions();
        assertTrue(options.containsAll(Set.of(
                StandardSocketOptions.SO_SNDBUF,
                StandardSocketOptions.SO_RCVBUF,
                StandardSocketOptions.SO_KEEPALIVE,
                StandardSocketOptions.SO_REUSEADDR,
                StandardSocketOptions.SO_LINGER,
                StandardSocketOptions.TCP_NODELAY,
                StandardSocketOptions.IP_TOS)));
        assertEquals(options, open().supportedOptions());
    }

    @Test
    void shouldReadEveryOptionItLists() throws IOException {
        Pair p = pair();
        for (SocketChannel channel : new SocketChannel[] {p.client(), p.server()}) {
            for (SocketOption<?> option : channel.supportedOptions()) {
                try {
                    assertNotNull(channel.getOption(option), option.name());
                } catch (UnsupportedOperationException | SocketException e) {
                    assertTrue(
                            option.name().startsWith("TCP_") || option.name().startsWith("SO_INCOMING"),
                            option + ": " + e);
                }
            }
        }
    }

    private static Object anotherValue(SocketOption<?> option, Object value) {
        return value instanceof Boolean on ? !on : option == StandardSocketOptions.SO_RCVBUF ? 50_000 : 77;
    }

    @SuppressWarnings("unchecked") // the value of an option is of its type
    private static <T> void set(ServerSocketChannel listener, SocketOption<T> option, Object value) throws IOException {
        listener.setOption(option, (T) value);
    }

    /** Linux makes an accepted socket a copy of the listener, though one that acknowledges quickly. */
    @Test
    void shouldInheritTheOptionsOfTheListener() throws IOException {
        ServerSocketChannel listener = openServer();
        List<SocketOption<?>> inherited = new ArrayList<>(listener.supportedOptions());
        inherited.removeIf(each -> Set.of("TCP_QUICKACK", "SO_INCOMING_NAPI_ID").contains(each.name()));
        for (SocketOption<?> option : inherited) {
            set(listener, option, anotherValue(option, listener.getOption(option)));
        }
        listener.bind(anyPort());
        SocketChannel client = open();
        client.connect(listener.getLocalAddress());
        SocketChannel accepted = closing(listener.accept());
        for (SocketOption<?> option : inherited) {
            assertEquals(listener.getOption(option), accepted.getOption(option), option.name());
        }
        accepted.setOption(StandardSocketOptions.SO_REUSEADDR, true);
        assertTrue(accepted.getOption(StandardSocketOptions.SO_REUSEADDR));
    }

    @Test
    void shouldHaveOptionsOfListeners() throws IOException {
        ServerSocketChannel listener = openServer();
        assertSame(listener, listener.setOption(StandardSocketOptions.SO_RCVBUF, 65536));
        assertTrue(listener.getOption(StandardSocketOptions.SO_RCVBUF) >= 65536);
        assertTrue(listener.getOption(StandardSocketOptions.SO_REUSEADDR));
        listener.setOption(StandardSocketOptions.SO_REUSEADDR, false);
        assertFalse(listener.getOption(StandardSocketOptions.SO_REUSEADDR));
        assertThrows(
                UnsupportedOperationException.class, () -> listener.setOption(StandardSocketOptions.TCP_NODELAY, true));
        assertThrows(UnsupportedOperationException.class, () -> listener.getOption(StandardSocketOptions.SO_LINGER));
        listener.bind(anyPort());
        assertTrue(listener.getOption(StandardSocketOptions.SO_RCVBUF) >= 65536);
        listener.close();
        assertThrows(ClosedChannelException.class, () -> listener.getOption(StandardSocketOptions.SO_RCVBUF));
    }
}
