/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketPermission;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.rmi.Remote;
import java.rmi.RemoteException;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.rmi.server.UnicastRemoteObject;
import java.security.AccessControlContext;
import java.security.AccessController;
import java.security.KeyStore;
import java.security.Permissions;
import java.security.PrivilegedExceptionAction;
import java.security.ProtectionDomain;
import java.util.Arrays;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import org.jrsocket.connect.Counts;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TcpReason;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.verbs.loopback.LoopbackProvider;

/**
 * A program whose JVM has our socket factories, over loopback verbs: what of java.net and of the JDK above it makes its
 * own sockets. Run by {@link InstalledFactoriesTest} in a JVM of its own, because factories are installed for good.
 * Ends with 0, or with an exception.
 */
public final class InstalledProgram {

    /** For RMI. */
    public interface Adder extends Remote {
        int add(int a, int b) throws RemoteException;
    }

    private static final InetAddress HOST = InetAddress.getLoopbackAddress();
    private static Counts counts;

    private InstalledProgram() {}

    /** @param args the scenario's name; for {@code tls} a PKCS12 key store with the password "changeit" too */
    public static void main(String[] args) throws Exception {
        // A busy machine is not a silent peer.
        Settings patient = Settings.read("connect.timeout=50s", new Properties(), Map.of());
        TransportContext context =
                new TransportContext(patient, Rules.NONE, TransportHolder.opening(LoopbackProvider::new));
        SocketFactories.install(context);
        counts = context.counts();
        switch (args[0]) {
            case "constructors" -> constructors();
            case "manager" -> manager();
            case "http" -> http();
            case "tls" -> tls(Path.of(args[1]));
            case "rmi" -> rmi();
            case "socks" -> socks();
            case "twice" -> twice(context);
            default -> throw new IllegalArgumentException(args[0]);
        }
        System.exit(0);
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what + "; over RDMA: " + counts.rdmaConnected() + " connected, "
                    + counts.rdmaAccepted() + " accepted");
        }
    }

    private static <T> FutureTask<T> start(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
        return task;
    }

    private static void talk(Socket client, ServerSocket server) throws IOException {
        try (client;
                Socket accepted = server.accept()) {
            client.getOutputStream().write(1);
            check(accepted.getInputStream().read() == 1, "up");
            accepted.getOutputStream().write(2);
            check(client.getInputStream().read() == 2, "down");
            check(client.getLocalPort() == accepted.getPort(), "port");
        }
    }

    @SuppressWarnings("deprecation") // of sockets for datagrams
    private static void datagrams(int port) throws IOException {
        try (DatagramSocket receiver = new DatagramSocket(port, HOST);
                Socket datagrams = new Socket(HOST, port, false)) {
            receiver.setSoTimeout(30_000);
            datagrams.getOutputStream().write(new byte[2]);
            DatagramPacket packet = new DatagramPacket(new byte[8], 8);
            receiver.receive(packet);
            check(packet.getLength() == 2, "a datagram");
        }
    }

    private static void constructors() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 50, HOST)) {
            if (Runtime.version().feature() < 22) { // some later JDK has no such sockets any more
                datagrams(server.getLocalPort());
            }
            talk(new Socket(HOST, server.getLocalPort()), server);
            talk(new Socket("127.0.0.1", server.getLocalPort()), server);
            talk(new Socket(HOST, server.getLocalPort(), HOST, 0), server);
            Socket unconnected = new Socket();
            unconnected.connect(server.getLocalSocketAddress());
            talk(unconnected, server);
            Socket direct = new Socket(Proxy.NO_PROXY);
            direct.connect(server.getLocalSocketAddress());
            talk(direct, server);
        }
        try (ServerSocket everywhere = new ServerSocket(0)) {
            talk(new Socket(HOST, everywhere.getLocalPort()), everywhere);
        }
        check(counts.rdmaConnected() == 6 && counts.rdmaAccepted() == 6, "all over RDMA");
    }

    /** All that ours do for an application that may use sockets, and nothing else. */
    private static void manager() throws Exception {
        asApplication(() -> {
            constructors();
            return null;
        });
    }

    /**
     * Under a security manager, as code that has the rights of a socket's user only. Ours has all, as on the boot class
     * path of the agent.
     */
    @SuppressWarnings("removal") // JDK 17
    private static <T> T asApplication(PrivilegedExceptionAction<T> action) throws Exception {
        Permissions rights = new Permissions();
        rights.add(new SocketPermission("*", "connect,accept,listen,resolve"));
        AccessControlContext application =
                new AccessControlContext(new ProtectionDomain[] {new ProtectionDomain(null, rights)});
        if (System.getSecurityManager() == null) {
            System.setSecurityManager(new SecurityManager());
        }
        return AccessController.doPrivileged(action, application);
    }

    private static void http() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, HOST)) {
            FutureTask<String> served = start(() -> {
                try (Socket socket = server.accept()) {
                    StringBuilder request = new StringBuilder();
                    while (request.indexOf("\r\n\r\n") < 0) {
                        request.append((char) socket.getInputStream().read());
                    }
                    socket.getOutputStream()
                            .write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
                                    .getBytes(StandardCharsets.US_ASCII));
                    return request.toString();
                }
            });
            HttpURLConnection connection =
                    (HttpURLConnection) URI.create("http://127.0.0.1:" + server.getLocalPort() + "/page")
                            .toURL()
                            .openConnection();
            check(
                    new String(connection.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).equals("hello"),
                    "body");
            check(served.get().startsWith("GET /page HTTP/1.1"), "request");
        }
        check(counts.rdmaConnected() == 1, "over RDMA");
    }

    /** A socket of SSLServerSocket's, and one layered over a connection that exists. */
    private static void tls(Path store) throws Exception {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        char[] password = "changeit".toCharArray();
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, password);
        }
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, password);
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(keys);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), trust.getTrustManagers(), null);
        SSLSocketFactory sockets = context.getSocketFactory();
        byte[] data = new byte[300_000];
        new Random(1).nextBytes(data);
        try (ServerSocket server = context.getServerSocketFactory().createServerSocket(0, 50, HOST)) {
            for (int i = 0; i < 2; i++) {
                FutureTask<byte[]> received = start(() -> {
                    try (Socket socket = server.accept()) {
                        byte[] all = socket.getInputStream().readNBytes(data.length);
                        socket.getOutputStream().write(all);
                        return all;
                    }
                });
                Socket client = i == 0
                        ? sockets.createSocket(HOST, server.getLocalPort())
                        : sockets.createSocket(
                                new Socket(HOST, server.getLocalPort()), "localhost", server.getLocalPort(), true);
                try (client) {
                    client.getOutputStream().write(data);
                    check(Arrays.equals(data, client.getInputStream().readNBytes(data.length)), "down");
                }
                check(Arrays.equals(data, received.get()), "up");
            }
        }
        check(counts.rdmaConnected() == 2 && counts.rdmaAccepted() == 2, "over RDMA");
    }

    private static void rmi() throws Exception {
        System.setProperty("java.rmi.server.hostname", "127.0.0.1");
        Adder adder = (a, b) -> a + b;
        Remote stub = UnicastRemoteObject.exportObject(adder, 0);
        Registry registry;
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, HOST)) {
            port = free.getLocalPort();
        }
        registry = LocateRegistry.createRegistry(port);
        registry.bind("adder", stub);
        Adder remote = (Adder) LocateRegistry.getRegistry("127.0.0.1", port).lookup("adder");
        check(remote.add(19, 23) == 42, "sum");
        check(counts.rdmaConnected() >= 2, "over RDMA");
    }

    private static void socks() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, HOST);
                ServerSocket proxy = new ServerSocket(0, 50, HOST)) {
            System.setProperty("socksProxyHost", "127.0.0.1");
            System.setProperty("socksProxyPort", "" + proxy.getLocalPort());
            System.setProperty("socksNonProxyHosts", "");
            FutureTask<Boolean> proxied = start(() -> relay(proxy, server.getLocalPort()));
            try (Socket client = new Socket(HOST, server.getLocalPort())) {
                check(proxied.get(), "the proxy was asked for the server");
                try (Socket accepted = server.accept()) {
                    client.getOutputStream().write(9);
                    check(accepted.getInputStream().read() == 9, "through the proxy");
                }
            }
            check(counts.tcpChosen(TcpReason.PROXY) == 1, "through SOCKS");
            long before = counts.rdmaConnected();
            Socket direct = new Socket(Proxy.NO_PROXY);
            direct.connect(server.getLocalSocketAddress());
            talk(direct, server);
            check(counts.rdmaConnected() == before + 1, "NO_PROXY is direct");
            proxied = start(() -> relay(proxy, server.getLocalPort()));
            Socket explicit = new Socket(new Proxy(Proxy.Type.SOCKS, proxy.getLocalSocketAddress()));
            explicit.connect(server.getLocalSocketAddress());
            check(proxied.get(), "an explicit proxy");
            explicit.close();
        }
    }

    /** A SOCKS 5 proxy for one client; true if it asked for {@code port}. */
    private static boolean relay(ServerSocket proxy, int port) throws IOException {
        Socket client = proxy.accept();
        DataInputStream in = new DataInputStream(client.getInputStream());
        OutputStream out = client.getOutputStream();
        in.readByte();
        in.skipNBytes(in.readByte());
        out.write(new byte[] {5, 0});
        in.skipNBytes(3);
        check(in.readByte() == 1, "an IPv4 address");
        in.skipNBytes(4);
        int asked = in.readUnsignedShort();
        Socket target = new Socket(Proxy.NO_PROXY);
        target.connect(new InetSocketAddress(HOST, port));
        out.write(new byte[] {5, 0, 0, 1, 127, 0, 0, 1, 0, 0});
        FutureTask<Long> unused = start(() -> in.transferTo(target.getOutputStream()));
        return asked == port;
    }

    private static void twice(TransportContext context) {
        try {
            SocketFactories.install(context);
        } catch (IOException e) {
            check(e.getMessage().equals("a socket factory is installed already"), e.getMessage());
            return;
        }
        throw new AssertionError("installed twice");
    }
}
