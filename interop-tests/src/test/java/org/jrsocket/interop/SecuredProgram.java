/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import com.sun.net.httpserver.HttpServer;
import java.lang.management.ManagementFactory;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** A program that may do no more than use sockets, under a security manager; prints what comes of each thing. */
final class SecuredProgram {

    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private interface Call {
        Object run() throws Exception;
    }

    private SecuredProgram() {}

    public static void main(String[] arguments) {
        tell("sockets", SecuredProgram::sockets);
        tell("channels", SecuredProgram::channels);
        tell("asynchronous channels", SecuredProgram::asynchronousChannels);
        tell("HTTP server", SecuredProgram::http);
        tell("management", () -> ManagementFactory.getPlatformMBeanServer().getMBeanCount() > 0);
    }

    private static void tell(String name, Call call) {
        String outcome;
        try {
            outcome = String.valueOf(call.run());
        } catch (Exception e) {
            outcome = e.toString();
        }
        System.out.println(name + ": " + outcome);
    }

    private static int sockets() throws Exception {
        try (ServerSocket server = new ServerSocket()) {
            server.bind(ANY_PORT);
            try (Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
                    Socket accepted = server.accept()) {
                client.getOutputStream().write(1);
                return accepted.getInputStream().read();
            }
        }
    }

    private static int channels() throws Exception {
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.socket().bind(ANY_PORT);
            try (SocketChannel client = SocketChannel.open(server.getLocalAddress());
                    SocketChannel accepted = server.accept()) {
                client.socket().getOutputStream().write(2);
                return accepted.socket().getInputStream().read();
            }
        }
    }

    private static int asynchronousChannels() throws Exception {
        try (AsynchronousServerSocketChannel server =
                        AsynchronousServerSocketChannel.open().bind(ANY_PORT);
                AsynchronousSocketChannel client = AsynchronousSocketChannel.open()) {
            client.connect(server.getLocalAddress()).get();
            try (AsynchronousSocketChannel accepted = server.accept().get()) {
                client.write(ByteBuffer.wrap(new byte[] {3, 4})).get();
                ByteBuffer first = ByteBuffer.allocate(1);
                accepted.read(first).get(); // the second is unread when it is closed
                return first.get(0);
            }
        }
    }

    private static int http() throws Exception {
        HttpServer server = HttpServer.create(ANY_PORT, 5);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
        try {
            URI page = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
            return ((HttpURLConnection) page.toURL().openConnection()).getResponseCode();
        } finally {
            server.stop(0);
        }
    }
}
