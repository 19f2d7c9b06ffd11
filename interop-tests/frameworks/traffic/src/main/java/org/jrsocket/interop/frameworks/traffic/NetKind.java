/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks.traffic;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import jdk.net.ExtendedSocketOptions;

/** {@code java.net}: two threads for a connection. */
final class NetKind implements Kind {

    private static final int BACKLOG = 100;

    /** Pause before each accept: a server that is too slow for its clients. */
    private final long pauseMillis;

    private final int backlog;

    NetKind() {
        this(0, BACKLOG);
    }

    NetKind(long pauseMillis, int backlog) {
        this.pauseMillis = pauseMillis;
        this.backlog = backlog;
    }

    @Override
    public int serve(InetSocketAddress address) throws IOException {
        ServerSocket server = new ServerSocket();
        server.setReuseAddress(true);
        server.bind(address, backlog);
        start("net-accept", () -> accept(server));
        return server.getLocalPort();
    }

    private void accept(ServerSocket server) {
        for (; ; ) {
            try {
                Thread.sleep(pauseMillis);
                Socket socket = server.accept();
                start("net-echo", () -> echo(socket));
            } catch (IOException e) {
                System.err.println("net: accepting failed, and is tried again: " + e);
                pause();
            } catch (InterruptedException e) {
                return;
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

    private static void echo(Socket socket) {
        byte[] buffer = new byte[Flow.MOST];
        try (socket) {
            keepAlive(socket);
            InputStream in = socket.getInputStream();
            OutputStream out = socket.getOutputStream();
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                out.write(buffer, 0, n);
            }
        } catch (IOException e) {
            System.err.println("net: " + Flow.withCauses(e));
        }
    }

    @Override
    public void connect(InetSocketAddress server, Flow flow) {
        start("net-" + flow.id, () -> run(server, flow));
    }

    private static void run(InetSocketAddress server, Flow flow) {
        try (Socket socket = new Socket()) {
            keepAlive(socket);
            socket.connect(server);
            flow.opened();
            start("net-read-" + flow.id, () -> read(socket, flow));
            write(socket, flow);
        } catch (IOException e) {
            flow.failed(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void keepAlive(Socket socket) throws IOException {
        socket.setKeepAlive(true);
        socket.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, Flow.IDLE_SECONDS);
        socket.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, Flow.IDLE_SECONDS);
        socket.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, Flow.IDLE_COUNT);
    }

    private static void write(Socket socket, Flow flow) throws IOException, InterruptedException {
        byte[] bytes = new byte[Flow.MOST];
        OutputStream out = socket.getOutputStream();
        while (flow.state() == Flow.State.OPEN && flow.begin()) {
            ByteBuffer buffer = ByteBuffer.wrap(bytes);
            flow.take(buffer);
            out.write(bytes, 0, buffer.position());
            flow.awaitQuiet();
            Thread.sleep(Flow.PAUSE_MILLIS);
        }
        if (flow.state() == Flow.State.OPEN) {
            socket.shutdownOutput();
        }
        flow.awaitEnd();
    }

    private static void read(Socket socket, Flow flow) {
        byte[] bytes = new byte[Flow.MOST];
        try {
            InputStream in = socket.getInputStream();
            for (int n = in.read(bytes); n >= 0; n = in.read(bytes)) {
                if (!flow.check(ByteBuffer.wrap(bytes, 0, n))) {
                    return;
                }
            }
            flow.ended();
        } catch (IOException e) {
            flow.failed(e);
        }
    }

    private static void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }
}
