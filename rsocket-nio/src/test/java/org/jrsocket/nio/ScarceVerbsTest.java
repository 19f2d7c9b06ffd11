/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.jrsocket.stream.RdmaStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A selector that was opened while RDMA could not be started takes the channels that are opened later. */
@Timeout(60)
class ScarceVerbsTest {

    private static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private static ServerSocketChannel listening(RSelectorProvider provider) throws IOException {
        return provider.openServerSocketChannel().bind(ANY);
    }

    private static RdmaStream carry(RSelectorProvider provider, ServerSocketChannel listener, Selector selector)
            throws IOException {
        try (SocketChannel client = provider.openSocketChannel()) {
            return carry(client, listener, selector);
        }
    }

    /** @return the RDMA connection, or null */
    private static RdmaStream carry(SocketChannel client, ServerSocketChannel listener, Selector selector)
            throws IOException {
        client.connect(listener.getLocalAddress());
        try (SocketChannel server = listener.accept()) {
            client.configureBlocking(false);
            SelectionKey key = client.register(selector, SelectionKey.OP_READ);
            server.write(NioSuite.text("here"));
            NioSuite.await(selector, key, SelectionKey.OP_READ);
            assertEquals("here", NioSuite.read(client, 4));
            return ChannelAccess.streamOf(client);
        }
    }

    @Test
    void shouldSelectRdmaConnectionsThatCameAfterTheSelector() throws Exception {
        try (ScarceVerbs verbs = new ScarceVerbs();
                Selector selector = verbs.selectors().openSelector()) {
            verbs.relieve();
            try (ServerSocketChannel listener = listening(verbs.selectors())) {
                assertNotNull(carry(verbs.selectors(), listener, selector));
            }
        }
    }

    @Test
    void shouldSelectTcpConnectionsThatCameInstead() throws Exception {
        try (ScarceVerbs verbs = new ScarceVerbs();
                Selector selector = verbs.selectors().openSelector();
                ServerSocketChannel listener = listening(verbs.selectors())) {
            assertNull(carry(verbs.selectors(), listener, selector));
            verbs.relieve();
            assertNull(carry(verbs.selectors(), listener, selector)); // it listens over TCP alone
            try (ServerSocketChannel next = listening(verbs.selectors())) {
                assertNotNull(carry(verbs.selectors(), next, selector));
            }
        }
    }

    @Test
    void shouldUseRdmaInChannelsThatWereOpenedBeforeItCouldBeStarted() throws Exception {
        try (ScarceVerbs verbs = new ScarceVerbs();
                Selector selector = verbs.selectors().openSelector();
                ServerSocketChannel listener = verbs.selectors().openServerSocketChannel();
                SocketChannel client = verbs.selectors().openSocketChannel()) {
            verbs.relieve();
            listener.bind(ANY);
            assertNotNull(carry(client, listener, selector));
        }
    }
}
