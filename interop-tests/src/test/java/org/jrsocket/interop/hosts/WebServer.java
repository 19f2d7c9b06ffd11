/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.hosts;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * {@code WebServer ADDRESS PORT}: answers each request with {@code ok}, until it is killed. Prints {@code
 * listening=PORT}.
 */
final class WebServer {

    private WebServer() {}

    public static void main(String[] args) throws IOException {
        System.out.println("listening=" + start(new InetSocketAddress(args[0], Integer.parseInt(args[1]))));
    }

    /** @return its port */
    static int start(InetSocketAddress address) throws IOException {
        HttpServer server = HttpServer.create(address, 100);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write(new byte[] {'o', 'k'});
            exchange.close();
        });
        server.start();
        return server.getAddress().getPort();
    }
}
