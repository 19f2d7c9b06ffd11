/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.net.InetSocketAddress;

/**
 * Asks a security manager about RDMA connections, in the words in which the JDK's own channels ask about TCP's. JDK 24
 * and later have none.
 */
@SuppressWarnings("removal")
final class Rights {

    private Rights() {}

    /** @throws SecurityException the caller may not connect to it */
    static void checkConnect(InetSocketAddress remote) {
        SecurityManager manager = System.getSecurityManager();
        if (manager != null) {
            manager.checkConnect(remote.getAddress().getHostAddress(), remote.getPort());
        }
    }

    /** @throws SecurityException the caller may not have a connection from it */
    static void checkAccept(InetSocketAddress remote) {
        SecurityManager manager = System.getSecurityManager();
        if (manager != null) {
            manager.checkAccept(remote.getAddress().getHostAddress(), remote.getPort());
        }
    }
}
