/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.RulesFile;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TcpReason;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.verbs.loopback.Reachability;
import org.jrsocket.verbs.rdmacore.RdmaCoreProvider;

/** A provider under test, and where it can listen. */
public abstract class NioKind {

    private volatile boolean checked; // a connection, at least

    public abstract SelectorProvider provider();

    public InetAddress address() {
        return InetAddress.getLoopbackAddress();
    }

    /** Fails unless the connection is what this kind is about. */
    final void check(SocketChannel channel) {
        checked = true;
        checkTransport(channel);
    }

    void checkTransport(SocketChannel channel) {}

    boolean isRdma() {
        return false;
    }

    /** Lets nobody answer at this address, over RDMA: over TCP nobody does already. */
    void silence(InetSocketAddress nobody) {}

    /** After any tests; one alone may have connected nobody, or only where nobody listens. */
    final void assertUsedIfConnected() {
        if (checked) {
            assertUsed(0);
        }
    }

    /**
     * After many connections: fails unless they were what this kind is about.
     *
     * @param plain how many servers accepted from sockets that are not of this kind
     */
    void assertUsed(int plain) {}

    public void close() throws IOException {}

    Selector openSelector() throws IOException {
        return provider().openSelector();
    }

    /** The JDK's own, whatever is installed; by reflection, because the agent's classes are out of a test's reach. */
    static SelectorProvider plainProvider() throws ReflectiveOperationException {
        return (SelectorProvider) Class.forName("sun.nio.ch.DefaultSelectorProvider")
                .getMethod("get")
                .invoke(null);
    }

    /** The reference. */
    static NioKind jdk() {
        return jdk(InetAddress.getLoopbackAddress());
    }

    /** The reference, at an address of this host's. */
    static NioKind jdk(InetAddress address) {
        return new NioKind() {
            @Override
            public SelectorProvider provider() {
                return JdkChannels.defaultProvider();
            }

            @Override
            public InetAddress address() {
                return address;
            }
        };
    }

    /**
     * What a program gets here. With {@code org.jrsocket.test.rdma} every connection has to be over RDMA, to
     * {@code org.jrsocket.test.address}. The agent's classes are out of a test's reach then: they are in another class
     * loader.
     */
    static NioKind installed() throws IOException {
        InetAddress address = InetAddress.getByName(System.getProperty("org.jrsocket.test.address", "127.0.0.1"));
        return new NioKind() {
            @Override
            public SelectorProvider provider() {
                return SelectorProvider.provider();
            }

            @Override
            public InetAddress address() {
                return address;
            }

            @Override
            boolean isRdma() {
                return Boolean.getBoolean("org.jrsocket.test.rdma");
            }

            @Override
            void checkTransport(SocketChannel channel) {
                if (isRdma() && !channel.toString().endsWith(" over RDMA]")) {
                    throw new AssertionError("not over RDMA: " + channel);
                }
            }
        };
    }

    /** Everything over RDMA, in one JVM. */
    public static NioKind loopback() throws Exception {
        // ports that refused are listened on a moment later
        return new OverLoopback("policy=auto,memory.rejected=0", Rules.NONE) {
            @Override
            boolean isRdma() {
                return true;
            }

            @Override
            void assertUsed(int plain) {
                if (context.counts().rdmaConnected() == 0 || context.counts().tcpAccepted() != plain) {
                    throw new AssertionError(counts());
                }
            }

            @Override
            void checkTransport(SocketChannel channel) {
                if (ChannelAccess.streamOf(channel) == null) {
                    throw new AssertionError("not over RDMA: " + channel);
                }
            }
        };
    }

    /** Clients try RDMA each time and are refused, because servers listen over TCP alone. */
    public static NioKind fallback() throws Exception {
        return new OverLoopback("policy=auto,memory.rejected=0", rules("bind * * tcp\n")) {
            @Override
            void assertUsed(int plain) {
                if (context.counts().rdmaConnected() > 0 || context.counts().tcpChosen(TcpReason.REFUSED) == 0) {
                    throw new AssertionError(counts());
                }
            }

            @Override
            void checkTransport(SocketChannel channel) {
                if (ChannelAccess.streamOf(channel) != null) {
                    throw new AssertionError("not over TCP: " + channel);
                }
            }
        };
    }

    /** Servers serve both, clients know only TCP. */
    static NioKind tcpClients() throws Exception {
        return new OverLoopback("policy=auto", rules("connect * * tcp\n"));
    }

    /**
     * What this host's devices carry.
     *
     * @param address a device's
     */
    public static NioKind device(InetAddress address) throws Exception {
        RdmaTransport transport = RdmaTransport.over(RdmaCoreProvider.open());
        TransportHolder holder = TransportHolder.of(transport);
        Settings patient = Settings.read(
                "policy=auto,memory.rejected=0,memory.unanswered=0,connect.timeout=20s", new Properties(), Map.of());
        RSelectorProvider provider = new RSelectorProvider(new TransportContext(patient, Rules.NONE, holder), holder);
        return new NioKind() {
            @Override
            public SelectorProvider provider() {
                return provider;
            }

            @Override
            public InetAddress address() {
                return address;
            }

            @Override
            boolean isRdma() {
                return true;
            }

            @Override
            void checkTransport(SocketChannel channel) {
                if (ChannelAccess.streamOf(channel) == null) {
                    throw new AssertionError("not over RDMA: " + channel);
                }
            }

            @Override
            public void close() {
                transport.close();
            }
        };
    }

    public static Rules rules(String text) throws Exception {
        Path file = Files.createTempFile("rules", ".conf");
        try {
            Files.writeString(file, text);
            return RulesFile.load(file);
        } finally {
            Files.delete(file);
        }
    }

    /** Ours, over verbs within this JVM. */
    static class OverLoopback extends NioKind {

        // a busy machine is not a silent peer
        final LoopbackProvider verbs = new LoopbackProvider(new LoopbackConfig().cmTimeoutMillis(30_000));
        final RdmaTransport transport;
        final TransportContext context;
        private final RSelectorProvider provider;

        OverLoopback(String settings, Rules rules) throws Exception {
            transport = RdmaTransport.over(verbs);
            TransportHolder holder = TransportHolder.of(transport);
            // A busy machine is not a silent peer.
            String patient = settings.contains("connect.timeout") ? settings : settings + ",connect.timeout=50s";
            context = new TransportContext(Settings.read(patient, new Properties(), Map.of()), rules, holder);
            provider = new RSelectorProvider(context, holder);
        }

        @Override
        public SelectorProvider provider() {
            return provider;
        }

        @Override
        void silence(InetSocketAddress nobody) {
            verbs.place(nobody.getAddress(), Reachability.SILENT);
        }

        String counts() {
            StringBuilder text = new StringBuilder(context.counts().rdmaConnected() + " connected over RDMA, "
                    + context.counts().tcpAccepted() + " accepted over TCP");
            for (TcpReason reason : TcpReason.values()) {
                text.append(", ")
                        .append(reason)
                        .append(' ')
                        .append(context.counts().tcpChosen(reason));
            }
            return text.toString();
        }

        @Override
        public void close() throws IOException {
            transport.close();
            verbs.assertClean();
            verbs.close();
        }
    }
}
