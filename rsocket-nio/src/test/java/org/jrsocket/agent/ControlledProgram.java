/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Properties;
import org.jrsocket.connect.ConnectAttempt;
import org.jrsocket.connect.DualListener;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.jrsocket.verbs.loopback.LoopbackProvider;

/**
 * {@code ControlledProgram RULES}: has a server and is its own client over loopback verbs, as its input says; another
 * process looks at it over JMX. {@code connect ADDRESS} answers RDMA, or TCP with the reason; {@code write} sends 100
 * bytes on the last connection and reads them; {@code close} closes one connection at both ends; {@code leave} closes
 * one at its client's end, with more to be sent than its peer has room for. With {@code none} instead of rules it has
 * no RDMA.
 */
final class ControlledProgram implements DualListener.Acceptor<RdmaStream> {

    private static final int PORT = 7471;

    private final TransportContext context;
    private final DualListener listener;
    private final Deque<RdmaStream> clients = new ArrayDeque<>();
    private final Deque<RdmaStream> accepted = new ArrayDeque<>();

    private ControlledProgram(TransportContext context, DualListener listener) {
        this.context = context;
        this.listener = listener;
    }

    public static void main(String[] args) throws Exception {
        boolean none = args[0].equals("none");
        String settings = "connect.timeout=50s" + (none ? "" : ",policy=auto,rules=" + args[0]);
        TransportHolder holder;
        if (none) {
            holder = TransportHolder.unavailable(
                    new VerbsUnavailableException(VerbsUnavailableException.Reason.NO_DEVICE, "no device here", null));
            InstalledSockets.jdks("no device here");
        } else {
            LoopbackProvider verbs = new LoopbackProvider();
            holder = TransportHolder.over(verbs, RdmaTransport.over(verbs));
            InstalledSockets.ours(InstalledSockets.Kind.SOCKETS);
        }
        TransportContext context = TransportContext.open(Settings.read(settings, new Properties(), Map.of()), holder);
        PlatformBuilder.registerNow(new TransportBean(context, holder));
        InetSocketAddress local = new InetSocketAddress(InetAddress.getByName("127.0.0.1"), PORT);
        ControlledProgram program = new ControlledProgram(
                context, DualListener.open(context, new NoSocket(local), 50, StreamConfig.DEFAULT));
        System.out.println("ready");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(program.run(line.split(" ")));
        }
        System.exit(0);
    }

    private String run(String[] words) throws IOException {
        switch (words[0]) {
            case "connect" -> {
                return connect(new InetSocketAddress(words[1], PORT));
            }
            case "write" -> {
                clients.peek().write(new byte[100], 0, 100, 0);
                return "read " + accepted.peek().read(new byte[200], 0, 200, 0);
            }
            case "leave" -> {
                RdmaStream client = clients.pop();
                ByteBuffer more = ByteBuffer.allocate(1 << 20);
                while (client.write(more.clear()) > 0) {}
                client.close();
                return "left";
            }
            default -> {
                clients.pop().close();
                accepted.pop().close();
                return "closed";
            }
        }
    }

    private String connect(InetSocketAddress to) throws IOException {
        ConnectAttempt attempt = context.connector().attempt(null, to, StreamConfig.DEFAULT, 0);
        RdmaStream stream = attempt.await();
        if (stream == null) {
            attempt.reportTcpOutcome(null);
            return "TCP: " + attempt.explanation();
        }
        clients.push(stream);
        accepted.push(listener.accept(this, 0));
        return "RDMA";
    }

    @Override
    public RdmaStream takeTcp() {
        return null;
    }

    @Override
    public RdmaStream adopt(RdmaStream stream) {
        return stream;
    }
}
