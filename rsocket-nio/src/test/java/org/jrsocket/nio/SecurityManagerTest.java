/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.security.Permission;
import org.jrsocket.aio.RAsynchronousChannelProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** A security manager is asked for RDMA connections as for TCP's. */
@EnabledForJreRange(max = JRE.JAVA_17) // later ones have to be told at start that there may be a manager
@SuppressWarnings("removal")
class SecurityManagerTest extends LoopbackChannelTests {

    /** Allows everything but what a test forbids. */
    private static final class Manager extends SecurityManager {
        volatile int forbiddenPeer;
        volatile boolean forbidsAccept;
        volatile int accepts;

        @Override
        public void checkPermission(Permission permission) {}

        @Override
        public void checkConnect(String host, int port) {
            if (port == forbiddenPeer) {
                throw new SecurityException("connect " + host);
            }
        }

        @Override
        public void checkAccept(String host, int port) {
            accepts++;
            if (forbidsAccept) {
                throw new SecurityException("accept " + host);
            }
        }
    }

    private final Manager manager = new Manager();

    @BeforeEach
    void install() {
        System.setSecurityManager(manager);
    }

    @AfterEach
    void remove() {
        System.setSecurityManager(null);
    }

    private int port(ServerSocketChannel listener) throws Exception {
        return ((InetSocketAddress) listener.getLocalAddress()).getPort();
    }

    @Test
    void shouldAskBeforeItConnects() throws Exception {
        ServerSocketChannel listener = listening();
        manager.forbiddenPeer = port(listener);
        for (boolean blocking : new boolean[] {true, false}) {
            SocketChannel client = open();
            client.configureBlocking(blocking);
            SecurityException e =
                    assertThrows(SecurityException.class, () -> client.connect(listener.getLocalAddress()));
            assertEquals("connect 127.0.0.1", e.getMessage());
            assertTrue(client.isOpen());
            assertFalse(client.isConnectionPending());
        }
        SecurityException e =
                assertThrows(SecurityException.class, () -> open().socket().connect(listener.getLocalAddress(), 1000));
        assertEquals("connect 127.0.0.1", e.getMessage());
        manager.forbiddenPeer = 0;
        pair(listener);
    }

    @Test
    void shouldAskBeforeAnybodyHasWhatItAccepts() throws Exception {
        ServerSocketChannel listener = listening();
        for (boolean blocking : new boolean[] {true, false}) {
            listener.configureBlocking(blocking);
            SocketChannel client = open();
            client.connect(listener.getLocalAddress());
            manager.forbidsAccept = true;
            SecurityException e = assertThrows(SecurityException.class, () -> {
                while (listener.accept() == null) {
                    Thread.onSpinWait();
                }
            });
            assertEquals("accept 127.0.0.1", e.getMessage());
            manager.forbidsAccept = false;
            assertEquals(-1, client.read(ByteBuffer.allocate(1)));
        }
        listener.configureBlocking(true);
        int before = manager.accepts;
        pair(listener);
        assertEquals(before + 1, manager.accepts);
    }

    @Test
    void shouldAskBeforeAnAsynchronousChannelConnects() throws Exception {
        ServerSocketChannel listener = listening();
        manager.forbiddenPeer = port(listener);
        var provider = new RAsynchronousChannelProvider((RSelectorProvider) kind.provider());
        try (AsynchronousSocketChannel client = provider.openAsynchronousSocketChannel(null)) {
            assertThrows(SecurityException.class, () -> client.connect(listener.getLocalAddress()));
            assertTrue(client.isOpen());
            manager.forbiddenPeer = 0;
            client.connect(listener.getLocalAddress()).get();
        }
    }
}
