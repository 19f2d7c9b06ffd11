/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.net.InetSocketAddress;

/**
 * Checks with a security manager for RDMA connections, in the same way as the JDK's own channels do for TCP. JDK 24 and
 * later have no security manager.
 */
@SuppressWarnings("removal")
final class PermissionChecks {

    private PermissionChecks() {}

    /** @throws SecurityException if the caller may not connect to it */
    static void checkConnect(InetSocketAddress remote) {
        SecurityManager manager = System.getSecurityManager();
        if (manager != null) {
            manager.checkConnect(remote.getAddress().getHostAddress(), remote.getPort());
        }
    }

    /** @throws SecurityException if the caller may not accept a connection from it */
    static void checkAccept(InetSocketAddress remote) {
        SecurityManager manager = System.getSecurityManager();
        if (manager != null) {
            manager.checkAccept(remote.getAddress().getHostAddress(), remote.getPort());
        }
    }
}
