/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** Over {@code java.net}, of which nothing here knows what carries it. */
final class NetNetwork implements Network {

    private int bufferSize;

    @Override
    public void bufferSize(int bytes) {
        bufferSize = bytes;
    }

    @Override
    public Link connect(InetSocketAddress remote) throws IOException {
        Socket socket = new Socket();
        try {
            if (bufferSize > 0) {
                socket.setSendBufferSize(bufferSize);
                socket.setReceiveBufferSize(bufferSize);
            }
            socket.connect(remote);
            return new NetLink(socket);
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    @Override
    public Door listen(InetSocketAddress local) throws IOException {
        ServerSocket server = new ServerSocket();
        if (bufferSize > 0) {
            server.setReceiveBufferSize(bufferSize);
        }
        server.bind(local);
        return new Door() {
            @Override
            public int port() {
                return server.getLocalPort();
            }

            @Override
            public Link accept() throws IOException {
                return new NetLink(server.accept());
            }

            @Override
            public void close() throws IOException {
                server.close();
            }
        };
    }

    @Override
    public int live() {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        try {
            ObjectName transport = new ObjectName("org.jrsocket:type=Transport");
            return ((Number) server.getAttribute(transport, "OpenConnections")).intValue()
                    + ((Number) server.getAttribute(transport, "ClosingConnections")).intValue();
        } catch (JMException e) {
            throw new IllegalStateException("no agent here", e);
        }
    }

    @Override
    public void close() {
        // Every socket is closed by its owner.
    }

    private static final class NetLink implements Link {

        private final Socket socket;
        private final InputStream in;
        private final OutputStream out;

        NetLink(Socket socket) throws IOException {
            this.socket = socket;
            in = socket.getInputStream();
            out = socket.getOutputStream();
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            return in.read(target, offset, length);
        }

        @Override
        public void write(byte[] source, int offset, int length) throws IOException {
            out.write(source, offset, length);
        }

        @Override
        public void finish() throws IOException {
            socket.shutdownOutput();
        }

        @Override
        public void abort() throws IOException {
            socket.setSoLinger(true, 0);
            socket.close();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
