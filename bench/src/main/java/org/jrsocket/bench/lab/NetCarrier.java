/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** {@code java.net.Socket}: TCP, or whatever an agent or a preloaded library makes of it. */
final class NetCarrier implements Carrier {

    private static final class NetWire implements Wire {
        private final Socket socket;
        private final InputStream in;
        private final OutputStream out;

        NetWire(Socket socket) throws IOException {
            socket.setTcpNoDelay(true);
            this.socket = socket;
            this.in = socket.getInputStream();
            this.out = socket.getOutputStream();
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            return in.read(target, offset, length);
        }

        @Override
        public void write(byte[] source, int length) throws IOException {
            out.write(source, 0, length);
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    @Override
    public Wire connect(InetSocketAddress to, boolean spinning) throws IOException {
        Socket socket = new Socket();
        socket.connect(to, 30_000);
        return new NetWire(socket);
    }

    @Override
    public Acceptor listen(InetSocketAddress at, boolean spinning) throws IOException {
        ServerSocket server = new ServerSocket();
        server.bind(at, 128);
        return () -> new NetWire(server.accept());
    }
}
