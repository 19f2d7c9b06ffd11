/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;

/**
 * A TCP port of this host that does not answer: its backlog is full, so Linux drops what else comes. No network is
 * needed for it.
 */
public final class SilentPort {

    /** An address of its own, so that RDMA can be silent there too. */
    private static final String HOST = "127.0.0.7";

    private static SilentPort port; // guarded by the class; as long as this JVM lives

    private final ServerSocket listener;
    private final List<Socket> backlog = new ArrayList<>();

    private SilentPort() throws IOException {
        listener = new ServerSocket(0, 1, InetAddress.getByName(HOST));
        for (int inVain = 0; inVain < 2; ) { // once may mean no more than that the machine is busy
            inVain = fill() ? 0 : inVain + 1;
            if (backlog.size() > 100) {
                throw new IOException("the backlog of " + listener + " does not fill up");
            }
        }
    }

    private boolean fill() throws IOException {
        Socket socket = new Socket();
        backlog.add(socket);
        try {
            socket.connect(listener.getLocalSocketAddress(), 500);
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        }
    }

    /** Where Netty's suite finds nobody; to be called before its classes are used. */
    static InetSocketAddress forNetty() throws IOException {
        InetSocketAddress address = address();
        System.setProperty("io.netty.testsuite.badHost", HOST);
        System.setProperty("io.netty.testsuite.badPort", String.valueOf(address.getPort()));
        return address;
    }

    public static synchronized InetSocketAddress address() throws IOException {
        if (port == null) {
            port = new SilentPort();
        }
        return (InetSocketAddress) port.listener.getLocalSocketAddress();
    }
}
