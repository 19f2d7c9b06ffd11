/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.perf;

import java.io.IOException;
import java.io.PrintStream;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.connect.RdmaListeners;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.stream.RdmaListener;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.threads.Threads;

/**
 * The command {@code perf server}: serves clients over RDMA and TCP on one port, each on a thread of its own, until it
 * is closed.
 */
public final class Server implements AutoCloseable {

    private static final int BACKLOG = 64;
    private static final int MAX_CLIENTS = 256;
    /** How long a client may be silent before it counts as gone. */
    private static final int IDLE_MILLIS = 60_000;

    private final PrintStream out;
    private final ServerSocket tcp;
    private final RdmaListener rdma; // or null
    private final Semaphore rdmaReady = new Semaphore(0);
    private final AtomicInteger clients = new AtomicInteger();
    private volatile boolean closed;

    private Server(PrintStream out, ServerSocket tcp, RdmaListener rdma) {
        this.out = out;
        this.tcp = tcp;
        this.rdma = rdma;
    }

    /**
     * Listens, and says on {@code out} where and over what.
     *
     * @param address null for all addresses
     * @param port 0 for any port
     */
    public static Server open(TransportContext context, InetAddress address, int port, PrintStream out)
            throws IOException {
        ServerSocket tcp = new ServerSocket(port, BACKLOG, address);
        RdmaListener rdma = null;
        String transports;
        try {
            InetAddress host = address == null ? wildcard() : address;
            rdma = RdmaListeners.open(context, new InetSocketAddress(host, tcp.getLocalPort()), BACKLOG);
            transports = "RDMA and TCP";
        } catch (IOException e) {
            transports = "TCP alone: " + e.getMessage();
        }
        Server server = new Server(out, tcp, rdma);
        out.println("perf server: listening on port " + server.port()
                + (address == null ? "" : " of " + address.getHostAddress()) + " over " + transports);
        out.flush();
        server.start(server::acceptTcp, "perf-tcp");
        if (rdma != null) {
            rdma.onReady(server.rdmaReady::release);
            server.start(server::acceptRdma, "perf-rdma");
        }
        return server;
    }

    private static InetAddress wildcard() throws IOException {
        boolean ipv4 = Boolean.getBoolean("java.net.preferIPv4Stack")
                || InetAddress.getLoopbackAddress() instanceof Inet4Address && !hasIpv6();
        return InetAddress.getByAddress(new byte[ipv4 ? 4 : 16]);
    }

    private static boolean hasIpv6() throws IOException {
        try (ServerSocket any = new ServerSocket(0, 1, InetAddress.getByAddress(new byte[16]))) {
            return any.isBound();
        } catch (SocketException e) {
            return false;
        }
    }

    int port() {
        return tcp.getLocalPort();
    }

    private void start(Runnable work, String name) {
        Threads.daemon(name, work).start();
    }

    private void acceptTcp() {
        while (!closed) {
            try {
                serve(Link.of(tcp.accept()));
            } catch (IOException e) {
                if (!closed) {
                    say("accepting over TCP failed: " + e.getMessage());
                    pause(); // out of descriptors: later it may work
                }
            }
        }
    }

    private void acceptRdma() {
        while (!closed) {
            rdmaReady.acquireUninterruptibly();
            for (RdmaStream stream = rdma.poll(); stream != null; stream = rdma.poll()) {
                serve(Link.of(stream));
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(100);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void serve(Link link) {
        if (clients.incrementAndGet() > MAX_CLIENTS) {
            clients.decrementAndGet();
            link.close();
            return;
        }
        boolean started = false;
        try {
            start(
                    () -> {
                        try (link) {
                            talk(link);
                        } catch (SocketTimeoutException e) {
                            say(link.remote() + ": closed, because it was idle for " + IDLE_MILLIS / 1000 + " s");
                        } catch (IOException e) {
                            say(link.remote() + ": " + e.getMessage());
                        } finally {
                            clients.decrementAndGet();
                        }
                    },
                    "perf-client");
            started = true;
        } catch (OutOfMemoryError e) { // no thread is left: later there may be one
            say(link.remote() + ": not served: " + e.getMessage());
        } finally {
            if (!started) {
                clients.decrementAndGet();
                link.close();
            }
        }
    }

    private void talk(Link link) throws IOException {
        Protocol.greet(link);
        Protocol.Request request = Protocol.read(link, IDLE_MILLIS);
        if (request == null) {
            return; // the client only wanted to know how long connecting takes
        }
        say(link.remote() + ": " + request.task().name().toLowerCase(Locale.ROOT) + ", " + request.size()
                + " bytes, over " + link.transport());
        byte[] buffer = new byte[request.size()];
        switch (request.task()) {
            case ECHO -> {
                while (link.readFully(buffer, buffer.length, IDLE_MILLIS)) {
                    link.write(buffer, buffer.length);
                }
            }
            case SINK -> {
                long bytes = 0;
                for (int n = link.read(buffer, 0, buffer.length, IDLE_MILLIS);
                        n >= 0;
                        n = link.read(buffer, 0, buffer.length, IDLE_MILLIS)) {
                    bytes += n;
                }
                link.write(ByteBuffer.allocate(Long.BYTES).putLong(bytes).array(), Long.BYTES);
            }
            case SOURCE -> {
                try {
                    while (!closed) {
                        link.write(buffer, buffer.length);
                    }
                } catch (IOException e) {
                    // the client has enough
                }
            }
        }
    }

    private void say(String line) {
        out.println("perf server: " + line);
        out.flush();
    }

    /** Stops listening. Clients that are being served are still served. */
    @Override
    public void close() throws IOException {
        closed = true;
        if (rdma != null) {
            rdma.close();
            rdmaReady.release();
        }
        tcp.close();
    }
}
