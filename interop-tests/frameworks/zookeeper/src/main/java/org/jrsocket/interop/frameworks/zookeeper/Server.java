/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks.zookeeper;

import java.io.File;
import java.net.InetSocketAddress;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/**
 * One ZooKeeper server, with the transport that it uses unless told otherwise (NIO).
 *
 * <p>{@code Server ADDRESS FOLDER}. Prints {@code listening=PORT} and runs until it is killed.
 */
public final class Server {

    private Server() {}

    public static void main(String[] args) throws Exception {
        File folder = new File(args[1]);
        ServerCnxnFactory connections = ServerCnxnFactory.createFactory();
        connections.configure(new InetSocketAddress(args[0], 0), 60);
        connections.startup(new ZooKeeperServer(folder, folder, ZooKeeperServer.DEFAULT_TICK_TIME));
        System.out.println("listening=" + connections.getLocalPort());
        connections.join();
    }
}
