/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.hosts;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.MXBean;
import javax.management.ObjectName;

/**
 * {@code Caller socket|channel|selector|http LOCAL}: connects when it is told, with a time limit that is its own. A
 * line of its input is {@code ADDRESS PORT MILLIS TRIES}; ADDRESS {@code self} is a server that it has itself, for
 * classes to be loaded, and 0 milliseconds are no limit. Answers {@code call=N try=K micros=M}, of the try that got
 * through and its time, or {@code call=N failed=WHY}. The line {@code forget} has the agent forget what it remembers of
 * peers, {@code call=N forgotten=COUNT}. When its input ends it prints what the agent counted: {@code rdma=COUNT},
 * {@code chosen.REASON=COUNT}.
 */
final class Caller {

    private final String api;

    private Caller(String api) {
        this.api = api;
    }

    public static void main(String[] args) throws Exception {
        Caller caller = new Caller(args[0]);
        int port = args[0].equals("http") ? WebServer.start(new InetSocketAddress(args[1], 0)) : echo(args[1]);
        InetSocketAddress self = new InetSocketAddress(args[1], port);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        int call = 0;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.equals("forget")) {
                System.out.println("call=" + ++call + " forgotten=" + forget());
                continue;
            }
            String[] words = line.split(" ");
            InetSocketAddress to =
                    words[0].equals("self") ? self : new InetSocketAddress(words[0], Integer.parseInt(words[1]));
            String outcome = caller.call(to, Integer.parseInt(words[2]), Integer.parseInt(words[3]));
            System.out.println("call=" + ++call + ' ' + outcome);
        }
        printCounts();
        System.exit(0);
    }

    private static int echo(String address) throws IOException {
        ServerSocket server = new ServerSocket();
        server.bind(new InetSocketAddress(address, 0));
        Thread thread = new Thread(
                () -> {
                    for (; ; ) {
                        try (Socket socket = server.accept()) {
                            socket.getOutputStream()
                                    .write(socket.getInputStream().read());
                        } catch (IOException e) {
                            System.out.println("self=" + e);
                        }
                    }
                },
                "self");
        thread.setDaemon(true);
        thread.start();
        return server.getLocalPort();
    }

    private String call(InetSocketAddress to, int millis, int tries) throws InterruptedException {
        Exception last = null;
        for (int i = 1; i <= tries; i++) {
            long start = System.nanoTime();
            try {
                switch (api) {
                    case "socket" -> socket(to, millis);
                    case "channel" -> channel(to);
                    case "selector" -> selector(to, millis);
                    default -> http(to, millis);
                }
                return "try=" + i + " micros=" + (System.nanoTime() - start) / 1000;
            } catch (IOException e) {
                last = e;
            }
        }
        return "failed=" + last;
    }

    private static void socket(InetSocketAddress to, int millis) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(to, millis);
            socket.getOutputStream().write(7);
            check(socket.getInputStream().read());
        }
    }

    private static void channel(InetSocketAddress to) throws IOException {
        try (SocketChannel channel = SocketChannel.open(to)) {
            converse(channel);
        }
    }

    /** As an event loop does: its timer closes the channel. */
    private static void selector(InetSocketAddress to, int millis) throws IOException {
        try (Selector selector = Selector.open();
                SocketChannel channel = SocketChannel.open()) {
            channel.configureBlocking(false);
            if (!channel.connect(to)) {
                SelectionKey key = channel.register(selector, SelectionKey.OP_CONNECT);
                long start = System.nanoTime();
                do {
                    long left = millis - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
                    if (millis != 0 && left <= 0) {
                        throw new SocketTimeoutException("the timer of " + millis + " ms");
                    }
                    selector.select(millis == 0 ? 0 : left);
                } while (!channel.finishConnect());
                key.cancel();
                selector.selectNow();
            }
            channel.configureBlocking(true);
            converse(channel);
        }
    }

    private static void converse(SocketChannel channel) throws IOException {
        channel.write(ByteBuffer.wrap(new byte[] {7}));
        ByteBuffer back = ByteBuffer.allocate(1);
        channel.read(back);
        check(back.get(0));
    }

    private static void http(InetSocketAddress to, int millis) throws IOException, InterruptedException {
        HttpClient.Builder client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1);
        if (millis != 0) {
            client.connectTimeout(Duration.ofMillis(millis));
        }
        URI uri = URI.create("http://" + to.getHostString() + ':' + to.getPort() + '/');
        HttpRequest request = HttpRequest.newBuilder(uri).build();
        check(
                client.build()
                                .send(request, HttpResponse.BodyHandlers.ofString())
                                .body()
                                .equals("ok")
                        ? 7
                        : 0);
    }

    private static void check(int answer) throws IOException {
        if (answer != 7) {
            throw new IOException("other bytes came back");
        }
    }

    private static Object forget() throws Exception {
        return ManagementFactory.getPlatformMBeanServer()
                .invoke(new ObjectName("org.jrsocket:type=Transport"), "forgetRemembered", null, null);
    }

    private static void printCounts() throws Exception {
        MBeanServer beans = ManagementFactory.getPlatformMBeanServer(); // not before: starting JMX takes time
        ObjectName name = new ObjectName("org.jrsocket:type=Transport");
        if (beans.isRegistered(name)) {
            Counts counts = JMX.newMXBeanProxy(beans, name, Counts.class);
            System.out.println("rdma=" + counts.getRdmaConnected());
            counts.getTcpChosen().entrySet().stream()
                    .filter(each -> each.getValue() > 0)
                    .forEach(each -> System.out.println("chosen." + each.getKey() + '=' + each.getValue()));
        }
    }

    /** What of the agent's bean is asked for; the agent's own interface is not on this class path. */
    @MXBean
    public interface Counts {
        long getRdmaConnected();

        Map<String, Long> getTcpChosen();
    }
}
