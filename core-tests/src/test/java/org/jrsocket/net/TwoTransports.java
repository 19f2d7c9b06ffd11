/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import java.util.Properties;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.verbs.loopback.Reachability;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** What tests need that have sockets of ours, over loopback verbs, and the JDK's on TCP, among each other. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class TwoTransports {

    private static final String PATIENT = "connect.timeout=50s";

    LoopbackProvider verbs;
    RdmaTransport transport;
    InetAddress served;
    InetAddress unserved;
    InetAddress silent;

    @BeforeEach
    void open() throws IOException {
        verbs = new LoopbackProvider(new LoopbackConfig().cmTimeoutMillis(60_000));
        served = InetAddress.getByName("127.0.0.1");
        unserved = InetAddress.getByName("127.0.0.2");
        silent = InetAddress.getByName("127.0.0.3");
        verbs.place(silent, Reachability.SILENT);
        transport = RdmaTransport.over(verbs);
    }

    @AfterEach
    void close() {
        transport.close();
        verbs.assertClean();
        verbs.close();
    }

    /** With patience: a busy machine is not a silent peer. */
    TransportContext context(String settings) throws Exception {
        String patient =
                settings == null ? PATIENT : settings.contains("connect.timeout") ? settings : PATIENT + ',' + settings;
        return new TransportContext(
                Settings.read(patient, new Properties(), Map.of()), Rules.NONE, TransportHolder.of(transport));
    }

    static Socket socket(TransportContext context) throws IOException {
        return SocketKind.over(context, true).socket();
    }

    static Socket connected(TransportContext context, ServerSocket server) throws IOException {
        Socket socket = socket(context);
        socket.connect(server.getLocalSocketAddress());
        return socket;
    }

    static Socket plain(ServerSocket server) throws IOException {
        return new Socket(server.getInetAddress(), server.getLocalPort());
    }

    static ServerSocket listening(TransportContext context, InetAddress address) throws IOException {
        ServerSocket server = SocketKind.over(context, true).serverSocket();
        server.bind(new InetSocketAddress(address, 0));
        return server;
    }

    static ServerSocket plainServer(InetAddress address) throws IOException {
        return new ServerSocket(0, 50, address);
    }

    static boolean isRdma(Socket socket) {
        return ((SocketKind.OurSocket) socket).isRdma();
    }

    static void assertTalks(Socket one, Socket other) throws IOException {
        one.getOutputStream().write(1);
        assertEquals(1, other.getInputStream().read());
        other.getOutputStream().write(2);
        assertEquals(2, one.getInputStream().read());
    }
}
