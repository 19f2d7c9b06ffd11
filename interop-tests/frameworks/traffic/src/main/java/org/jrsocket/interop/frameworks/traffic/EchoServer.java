/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks.traffic;

import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;

/**
 * {@code EchoServer ADDRESS NET NIO NETTY LATE}: gives back what it gets, on ports of which 0 is any, until it is
 * killed. LATE is that of a server that has a short queue and accepts a connection a second. Prints {@code
 * listening=PID NET NIO NETTY LATE}.
 */
public final class EchoServer {

    private static final int LATE_MILLIS = 1000;
    private static final int LATE_BACKLOG = 2;

    private EchoServer() {}

    public static void main(String[] args) throws Exception {
        String address = args[0];
        Kind[] kinds = {
            Kind.named("net"), Kind.named("nio"), Kind.named("netty"), new NetKind(LATE_MILLIS, LATE_BACKLOG)
        };
        StringBuilder ports = new StringBuilder();
        for (int i = 0; i < kinds.length; i++) {
            int port = kinds[i].serve(new InetSocketAddress(address, Integer.parseInt(args[1 + i])));
            ports.append(' ').append(port);
        }
        System.out.println("listening=" + ProcessHandle.current().pid() + ports);
        new CountDownLatch(1).await();
    }
}
