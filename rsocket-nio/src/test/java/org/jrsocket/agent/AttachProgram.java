/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.instrument.Instrumentation;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketImplFactory;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.nio.channels.spi.SelectorProvider;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.NoSuchAlgorithmException;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import javax.management.Attribute;
import javax.management.JMException;
import javax.management.ObjectName;
import javax.net.ssl.SSLContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.nio.ChannelAccess;
import org.jrsocket.nio.RSelectorProvider;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.slf4j.event.Level;

/**
 * A program that is under way when the agent, over loopback verbs, is attached to it. Run by {@link AttachTest} in a
 * JVM of its own. Ends with 0, or with an exception.
 */
public final class AttachProgram {

    private static final InetAddress HOST = InetAddress.getLoopbackAddress();

    private static volatile boolean hasDevice = true;
    private static volatile boolean opened;

    private AttachProgram() {}

    /** What the JVM calls when the agent is attached. */
    public static void agentmain(String arguments, Instrumentation instrumentation) {
        Installation.attach(arguments, instrumentation, TransportHolder.opening(AttachProgram::open));
    }

    private static VerbsProvider open() throws VerbsUnavailableException {
        if (!hasDevice) {
            throw new VerbsUnavailableException(VerbsUnavailableException.Reason.NO_DEVICE, "no device yet", null);
        }
        opened = true;
        return new LoopbackProvider();
    }

    /** @param args the scenario's name, and a jar whose agent class is this */
    public static void main(String[] args) throws Exception {
        String jar = args[1];
        switch (args[0]) {
            case "idle" -> idle(jar);
            case "command" -> command(jar);
            case "none" -> none(jar);
            case "tcp" -> tcp(jar);
            case "twice" -> twice(jar);
            case "late" -> late(jar);
            case "netty" -> netty(() -> attach(jar, ""), AttachProgram::useEpoll);
            case "netty-before" -> netty(AttachProgram::useEpoll, () -> attach(jar, ""));
            case "typo" -> typo(jar);
            case "devices" -> devices(jar);
            case "servers" -> Sockets.servers(jar);
            case "selector" -> selector(jar, "");
            case "insists" -> selector(jar, "policy=rdma,log=error");
            case "factory" -> factory(jar);
            case "own-selectors" -> ownSelectors(jar);
            case "own-asynchronous" -> ownAsynchronous(jar);
            default -> throw new IllegalArgumentException(args[0]);
        }
        System.exit(0);
    }

    private interface Step {
        void run() throws Exception;
    }

    private static void attach(String jar, String arguments) throws Exception {
        VirtualMachine self =
                VirtualMachine.attach(Long.toString(ProcessHandle.current().pid()));
        self.loadAgent(jar, arguments);
        self.detach();
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    private static long connected() {
        TransportBean bean = Management.bean();
        return bean == null ? 0 : bean.getRdmaConnected();
    }

    private static void idle(String jar) throws Exception {
        attach(jar, "");
        Sockets.expect(true, true);
        checkOurs("ours", "ours", "ours");
    }

    /** What the bean says of them. */
    private static void checkOurs(String sockets, String channels, String asynchronous) {
        String expected = "java.net sockets: " + sockets + "; NIO channels: " + channels + "; asynchronous channels: "
                + asynchronous;
        check(InstalledSockets.describe().equals(expected), InstalledSockets.describe());
    }

    /** What a command calls TCP has to be TCP. */
    private static void command(String jar) throws Exception {
        attach(jar, "");
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8);
        check(Main.run(new String[] {"version"}, nowhere, nowhere) == 0, "a command");
        Sockets.expect(false, false);
    }

    /** Before the agent: its classes here are not on the boot class path, and it adds no bean later. */
    private static void startJmx() {
        ManagementFactory.getPlatformMBeanServer();
    }

    private static String verbs() throws JMException {
        return (String)
                ManagementFactory.getPlatformMBeanServer().getAttribute(new ObjectName(TransportBean.NAME), "Verbs");
    }

    private static void override(String policy) throws JMException {
        ManagementFactory.getPlatformMBeanServer()
                .setAttribute(new ObjectName(TransportBean.NAME), new Attribute("PolicyOverride", policy));
    }

    private static void none(String jar) throws Exception {
        hasDevice = false;
        startJmx();
        attach(jar, "");
        check(!(SelectorProvider.provider() instanceof RSelectorProvider), "no provider of ours");
        Sockets.expect(false, false);
        check(verbs().equals("none: no device yet"), verbs());
        String why = "the JDK's (there was no RDMA when the agent started)";
        checkOurs(why, why, why);
        named(false);
    }

    private static void twice(String jar) throws Exception {
        attach(jar, "log=error");
        Path rules = Files.createTempFile("rules", "");
        Files.writeString(rules, "connect no-such-host.invalid * tcp\n");
        attach(jar, "log=debug,rules=" + rules);
        Files.delete(rules);
        check(StderrLogger.level() == Level.ERROR, "the log is as it was");
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().equals("jrsocket-names")) {
                thread.join(30_000);
                check(!thread.isAlive(), "names are looked up for nobody");
            }
        }
    }

    private static void tcp(String jar) throws Exception {
        startJmx();
        attach(jar, "policy=tcp");
        Sockets.expect(false, false);
        check(!opened, "verbs are opened for nothing");
        override("auto");
        Sockets.expect(true, true);
        override("none");
        Sockets.expect(false, false);
        named(true);
    }

    /** What a program gets that names our provider, as the Netty transport does: TCP, with the agent's settings. */
    private static void named(boolean device) throws Exception {
        RSelectorProvider ours = new RSelectorProvider();
        try (ServerSocketChannel server = ours.openServerSocketChannel().bind(new InetSocketAddress(HOST, 0));
                SocketChannel client = ours.openSocketChannel()) {
            check(client.connect(server.getLocalAddress()), "connected");
            check(ChannelAccess.streamOf(client) == null, "over TCP");
        }
        try {
            ours.ensureRdma();
            check(device, "the agent's verbs");
        } catch (VerbsUnavailableException e) {
            check(!device && e.getMessage().equals("no device yet"), e.toString());
        }
    }

    private static void late(String jar) throws Exception {
        hasDevice = false;
        startJmx();
        attach(jar, "device.late=on,memory.rejected=0");
        try (Selector selector = Selector.open()) {
            Sockets.expect(false, false);
            check(verbs().equals("none: no device yet"), verbs());
            Sockets.keepListening();
            while (verbs().startsWith("none")) { // which looks again, every few seconds
                Thread.sleep(50);
            }
            Sockets.expect(true, true);
            try (ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(HOST, 0));
                    SocketChannel client = SocketChannel.open(server.getLocalAddress())) {
                client.configureBlocking(false);
                client.register(selector, SelectionKey.OP_WRITE);
                check(selector.select() == 1, "a selector from before takes it");
            }
        }
    }

    private static void useEpoll() throws Exception {
        Class.forName("org.example.shaded.netty.channel.epoll.EpollEventLoop");
    }

    private static void netty(Step... steps) throws Exception {
        for (Step step : steps) {
            step.run();
        }
        checkOurs("ours", "ours", "ours; org.example.shaded.netty: TCP by epoll");
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().equals("jrsocket-bypass")) {
                thread.join(); // else the program may end before the line is written
            }
        }
    }

    private static void typo(String jar) throws Exception {
        attach(jar, "polcy=tcp");
        attach(jar, "rules=/nowhere/sdp.conf");
        attach(jar, "policy=auto"); // in the next attempt it is right
        Sockets.expect(true, true);
    }

    private static void devices(String jar) throws Exception {
        Path rules = Files.createTempFile("rules", "");
        Files.writeString(rules, "connect * * auto mistyped2+lo0\nbind * * auto lo0\n");
        attach(jar, "devices=mistyped1,rules=" + rules);
        Files.delete(rules);
        Sockets.expect(true, true);
    }

    private static void selector(String jar, String arguments) throws Exception {
        try (Selector selector = Selector.open()) {
            attach(jar, arguments);
            check(SelectorProvider.provider() == selector.provider(), "another provider");
        }
        if (arguments.isEmpty()) {
            Sockets.expect(true, false);
        }
        checkOurs(
                "ours",
                "the JDK's (another selector provider is in use already: sun.nio.ch.EPollSelectorProvider)",
                "the JDK's (NIO channels are)");
    }

    /** Whose sockets are not made: what counts is that they stay the application's. */
    @SuppressWarnings("deprecation") // applications do it
    private static void factory(String jar) throws Exception {
        SocketImplFactory own = () -> {
            throw new IllegalStateException("the application's own");
        };
        Socket.setSocketImplFactory(own);
        attach(jar, "");
        try {
            new Socket(HOST, 1).close();
            check(false, "a socket of somebody else's");
        } catch (IllegalStateException e) {
            check(e.getMessage().equals("the application's own"), e.toString());
        }
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(HOST, 0));
                SocketChannel client = SocketChannel.open(server.getLocalAddress())) {
            check(client.isConnected() && connected() == 1, "NIO over RDMA");
        }
    }

    private static void ownSelectors(String jar) throws Exception {
        attach(jar, "");
        check(SelectorProvider.provider() instanceof OwnSelectors, "the program's own");
    }

    private static void ownAsynchronous(String jar) throws Exception {
        attach(jar, "");
        check(AsynchronousChannelProvider.provider() instanceof OwnAsynchronous, "the program's own");
        Sockets.expect(true, true);
    }

    /** A provider that a program brings; it opens nothing. */
    public static final class OwnSelectors extends SelectorProvider {
        @Override
        public DatagramChannel openDatagramChannel() {
            throw new UnsupportedOperationException();
        }

        @Override
        public DatagramChannel openDatagramChannel(ProtocolFamily family) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Pipe openPipe() {
            throw new UnsupportedOperationException();
        }

        @Override
        public AbstractSelector openSelector() {
            throw new UnsupportedOperationException();
        }

        @Override
        public ServerSocketChannel openServerSocketChannel() {
            throw new UnsupportedOperationException();
        }

        @Override
        public SocketChannel openSocketChannel() {
            throw new UnsupportedOperationException();
        }
    }

    /** The same of asynchronous channels. */
    public static final class OwnAsynchronous extends AsynchronousChannelProvider {
        @Override
        public AsynchronousChannelGroup openAsynchronousChannelGroup(int threads, ThreadFactory factory) {
            throw new UnsupportedOperationException();
        }

        @Override
        public AsynchronousChannelGroup openAsynchronousChannelGroup(ExecutorService executor, int initialSize) {
            throw new UnsupportedOperationException();
        }

        @Override
        public AsynchronousServerSocketChannel openAsynchronousServerSocketChannel(AsynchronousChannelGroup group) {
            throw new UnsupportedOperationException();
        }

        @Override
        public AsynchronousSocketChannel openAsynchronousSocketChannel(AsynchronousChannelGroup group) {
            throw new UnsupportedOperationException();
        }
    }

    /** Apart, because the verifier loads java.net.ServerSocket with it. */
    private static final class Sockets {

        /** Over TCP before there is a device, and over RDMA after that, in java.net and in NIO, waiting or selected. */
        static void keepListening() throws Exception {
            try (ServerSocket net = new ServerSocket(0);
                    ServerSocketChannel waiting = ServerSocketChannel.open().bind(null);
                    ServerSocketChannel selected = ServerSocketChannel.open().bind(null);
                    Selector selector = Selector.open()) {
                selected.configureBlocking(false);
                selected.register(selector, SelectionKey.OP_ACCEPT);
                Server[] servers = {
                    new Server(net.getLocalPort(), () -> net.accept().getPort()),
                    new Server(waiting.socket().getLocalPort(), () -> portOf(waiting.accept())),
                    new Server(selected.socket().getLocalPort(), () -> {
                        selector.select();
                        selector.selectedKeys().clear();
                        return portOf(selected.accept());
                    })
                };
                for (Server server : servers) {
                    for (int i = 0; i < 3; i++) {
                        check(!server.serve(), "over TCP");
                    }
                }
                hasDevice = true;
                for (Server server : servers) {
                    while (!server.serve()) { // the process looks every few seconds
                        Thread.sleep(50);
                    }
                }
            }
        }

        private static int portOf(SocketChannel accepted) throws IOException {
            return ((InetSocketAddress) accepted.getRemoteAddress()).getPort();
        }

        /** @param accept returns the client's port */
        private record Server(int port, Callable<Integer> accept) {

            /** Returns whether RDMA carried the connection. */
            boolean serve() throws Exception {
                FutureTask<Integer> accepting = new FutureTask<>(accept);
                new Thread(accepting, "accept").start(); // the client may come before or after it waits
                long before = connected();
                try (Socket client = new Socket(HOST, port)) {
                    check(accepting.get() == client.getLocalPort(), "accepted");
                    return connected() == before + 1;
                }
            }
        }

        /** Over RDMA, or not, in java.net and in NIO. */
        static void expect(boolean net, boolean nio) throws IOException {
            long before = connected();
            try (ServerSocket server = new ServerSocket(0, 50, HOST);
                    Socket client = new Socket(HOST, server.getLocalPort())) {
                check(server.accept().getPort() == client.getLocalPort(), "accepted by java.net");
            }
            check(connected() == before + (net ? 1 : 0), net ? "java.net over RDMA" : "java.net over TCP");
            try (ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(HOST, 0));
                    SocketChannel client = SocketChannel.open(server.getLocalAddress());
                    SocketChannel accepted = server.accept()) {
                check(accepted.getRemoteAddress().equals(client.getLocalAddress()), "accepted by NIO");
            }
            check(connected() == before + (net ? 1 : 0) + (nio ? 1 : 0), nio ? "NIO over RDMA" : "NIO over TCP");
        }

        static void servers(String jar) throws Exception {
            try (ServerSocket plain = new ServerSocket(0, 50, HOST);
                    ServerSocket tls = tlsServer();
                    ServerSocket own = new OwnSockets()) {
                attach(jar, "");
                for (ServerSocket server : new ServerSocket[] {plain, tls, own}) {
                    for (int i = 0; i < 2; i++) {
                        try (SocketChannel client = SocketChannel.open(server.getLocalSocketAddress());
                                Socket accepted = server.accept()) {
                            check(
                                    new InetSocketAddress(HOST, accepted.getPort()).equals(client.getLocalAddress()),
                                    "accepted by " + server);
                        }
                    }
                }
            }
            expect(false, true);
        }

        private static ServerSocket tlsServer() throws IOException, NoSuchAlgorithmException {
            return SSLContext.getDefault().getServerSocketFactory().createServerSocket(0, 50, HOST);
        }
    }

    /** As servers do that want sockets of a class of their own. */
    private static final class OwnSockets extends ServerSocket {

        OwnSockets() throws IOException {
            super(0, 50, HOST);
        }

        @Override
        public Socket accept() throws IOException {
            Socket socket = new Socket();
            implAccept(socket);
            return socket;
        }
    }
}
