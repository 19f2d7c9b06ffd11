/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.perf;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.OutgoingConnection;
import org.jrsocket.connect.Policy;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.stream.RdmaStream;

/**
 * A connection over either transport. For one reader and one writer at a time; {@link #close} from any thread ends
 * their waits.
 */
final class Link implements AutoCloseable {

    private static final int TCP_MILLIS = 5_000;

    private final RdmaStream stream; // null over TCP
    private final Socket socket; // null over RDMA
    private final String reason;
    private final long setupNanos;

    private Link(RdmaStream stream, Socket socket, String reason, long setupNanos) {
        this.stream = stream;
        this.socket = socket;
        this.reason = reason;
        this.setupNanos = setupNanos;
    }

    static Link of(RdmaStream accepted) {
        return new Link(accepted, null, null, 0);
    }

    static Link of(Socket accepted) {
        return new Link(null, accepted, null, 0);
    }

    /**
     * Connects as a socket under the agent would.
     *
     * @param transport TCP: without trying RDMA. RDMA: over RDMA or not at all. AUTO: as the settings and rules say
     */
    static Link connect(TransportContext context, InetSocketAddress remote, Policy transport) throws IOException {
        long start = System.nanoTime();
        PlainTcp tcp = new PlainTcp(remote);
        if (transport == Policy.TCP) {
            tcp.connect(0);
            return new Link(null, tcp.socket, "as requested", System.nanoTime() - start);
        }
        OutgoingConnection connection =
                context.connector().connect(null, remote, context.settings().streamConfig(), 0, tcp);
        RdmaStream stream = connection.awaitRdma();
        if (stream != null) {
            return new Link(stream, null, null, System.nanoTime() - start);
        }
        if (transport == Policy.RDMA) {
            throw new IOException("no RDMA: " + connection.whyTcp());
        }
        try {
            connection.connectTcp();
        } catch (IOException e) {
            throw new IOException("RDMA: " + connection.whyTcp() + "; TCP: " + e.getMessage(), e);
        }
        return new Link(null, tcp.socket, connection.whyTcp(), System.nanoTime() - start);
    }

    private static final class PlainTcp implements OutgoingConnection.Tcp {
        private final InetSocketAddress remote;
        private Socket socket;

        PlainTcp(InetSocketAddress remote) {
            this.remote = remote;
        }

        @Override
        public boolean connect(int millis) throws IOException {
            Socket fresh = new Socket();
            try {
                fresh.connect(remote, TCP_MILLIS);
                fresh.setTcpNoDelay(true);
            } catch (IOException e) {
                fresh.close();
                throw e;
            }
            socket = fresh;
            return true;
        }

        @Override
        public InetSocketAddress localAddress() {
            return (InetSocketAddress) socket.getLocalSocketAddress();
        }
    }

    String transport() {
        return stream != null ? "RDMA" : "TCP";
    }

    /** Returns the RDMA device, or null. */
    String device() {
        return stream != null ? stream.deviceName() : null;
    }

    /** Returns why the connection uses TCP, or null. */
    String reason() {
        return reason;
    }

    long setupNanos() {
        return setupNanos;
    }

    InetSocketAddress remote() {
        return stream != null ? stream.remoteAddress() : (InetSocketAddress) socket.getRemoteSocketAddress();
    }

    /** Describes for people what carries the connection, and why. */
    String description() {
        return stream != null
                ? "RDMA, device " + device() + ", from "
                        + stream.localAddress().getAddress().getHostAddress()
                : "TCP, from " + socket.getLocalAddress().getHostAddress()
                        + (reason == null ? "" : "; not RDMA: " + reason);
    }

    /**
     * Reads as {@link java.io.InputStream#read(byte[], int, int)} does.
     *
     * @param millis 0 waits for ever
     */
    int read(byte[] target, int offset, int length, int millis) throws IOException {
        if (stream != null) {
            return stream.read(target, offset, length, TimeUnit.MILLISECONDS.toNanos(millis));
        }
        if (socket.getSoTimeout() != millis) {
            socket.setSoTimeout(millis);
        }
        return socket.getInputStream().read(target, offset, length);
    }

    /** Reads {@code length} bytes. Returns false if the stream ends before the first one. */
    boolean readFully(byte[] target, int length, int millis) throws IOException {
        for (int done = 0; done < length; ) {
            int n = read(target, done, length - done, millis);
            if (n < 0) {
                if (done == 0) {
                    return false;
                }
                throw new SocketException("the peer ended the connection in the middle of a message");
            }
            done += n;
        }
        return true;
    }

    void write(byte[] source, int length) throws IOException {
        if (stream != null) {
            stream.write(source, 0, length, 0);
        } else {
            socket.getOutputStream().write(source, 0, length);
        }
    }

    void shutdownOutput() throws IOException {
        if (stream != null) {
            stream.shutdownOutput();
        } else {
            socket.shutdownOutput();
        }
    }

    @Override
    public void close() {
        if (stream != null) {
            stream.close();
            return;
        }
        try {
            socket.close();
        } catch (IOException e) {
            // it is closed as far as we care
        }
    }
}
