/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.util.Map;
import java.util.Properties;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TcpReason;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.nio.NioKind;
import org.jrsocket.nio.RSelectorProvider;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.verbs.loopback.Reachability;

/** A provider under test, and where it can listen. */
abstract class AioKind {

    private volatile boolean checked; // a connection, at least

    abstract AsynchronousChannelProvider provider();

    InetAddress address() {
        return InetAddress.getLoopbackAddress();
    }

    /** Fails unless the connection is what this kind is about. */
    final void check(AsynchronousSocketChannel channel) {
        checked = true;
        checkTransport(channel);
    }

    void checkTransport(AsynchronousSocketChannel channel) {}

    boolean isRdma() {
        return false;
    }

    /** Lets nobody answer at this address, over RDMA: over TCP nobody does already. */
    void silence(InetSocketAddress nobody) {}

    /** After any tests; one alone may have connected nobody, or only where nobody listens. */
    final void assertUsedIfConnected() {
        if (checked) {
            assertUsed();
        }
    }

    /** After many connections: fails unless they were what this kind is about. */
    void assertUsed() {}

    void close() throws IOException {}

    /**
     * What a program gets here: in the build the JDK's own. With {@code org.jrsocket.test.rdma} every connection has to
     * be over RDMA, to {@code org.jrsocket.test.address}. The agent's classes are out of a test's reach then: they are
     * in another class loader.
     */
    static AioKind installed() throws IOException {
        InetAddress address = InetAddress.getByName(System.getProperty("org.jrsocket.test.address", "127.0.0.1"));
        return new AioKind() {
            @Override
            AsynchronousChannelProvider provider() {
                return AsynchronousChannelProvider.provider();
            }

            @Override
            InetAddress address() {
                return address;
            }

            @Override
            boolean isRdma() {
                return Boolean.getBoolean("org.jrsocket.test.rdma");
            }

            @Override
            void checkTransport(AsynchronousSocketChannel channel) {
                if (isRdma()) {
                    assertOverRdma(channel);
                }
            }
        };
    }

    /** The JDK's own, whatever is installed; by reflection, because the agent's classes are out of a test's reach. */
    static AsynchronousChannelProvider plainProvider() throws ReflectiveOperationException {
        return (AsynchronousChannelProvider) Class.forName("sun.nio.ch.DefaultAsynchronousChannelProvider")
                .getMethod("create")
                .invoke(null);
    }

    static void assertOverRdma(AsynchronousSocketChannel channel) {
        if (!channel.toString().endsWith(" over RDMA]")) {
            throw new AssertionError("not over RDMA: " + channel);
        }
    }

    /** Everything over RDMA, in one JVM. */
    static AioKind loopback() throws Exception {
        return new OverLoopback("policy=auto", Rules.NONE) {
            @Override
            boolean isRdma() {
                return true;
            }

            @Override
            void checkTransport(AsynchronousSocketChannel channel) {
                assertOverRdma(channel);
            }

            @Override
            void assertUsed() {
                if (context.counts().rdmaConnected() == 0 || context.counts().tcpAccepted() > 0) {
                    throw new AssertionError(context.counts().rdmaConnected() + " connected over RDMA, "
                            + context.counts().tcpAccepted() + " accepted over TCP");
                }
            }
        };
    }

    /** Clients try RDMA each time and are refused, because servers listen over TCP alone. */
    static AioKind fallback() throws Exception {
        return new OverLoopback("policy=auto", NioKind.rules("bind * * tcp\n")) {
            @Override
            void checkTransport(AsynchronousSocketChannel channel) {
                if (!channel.toString().endsWith("]") || channel.toString().contains("RDMA")) {
                    throw new AssertionError("not over TCP: " + channel);
                }
            }

            @Override
            void assertUsed() {
                if (context.counts().rdmaConnected() > 0 || context.counts().tcpChosen(TcpReason.REFUSED) == 0) {
                    throw new AssertionError(context.counts().rdmaConnected() + " connected over RDMA, "
                            + context.counts().tcpChosen(TcpReason.REFUSED) + " refused");
                }
            }
        };
    }

    /** What this host's devices carry, of which one has the kind's address. */
    static AioKind device(NioKind kind) {
        RAsynchronousChannelProvider provider = new RAsynchronousChannelProvider((RSelectorProvider) kind.provider());
        return new AioKind() {
            @Override
            AsynchronousChannelProvider provider() {
                return provider;
            }

            @Override
            InetAddress address() {
                return kind.address();
            }

            @Override
            boolean isRdma() {
                return true;
            }

            @Override
            void checkTransport(AsynchronousSocketChannel channel) {
                assertOverRdma(channel);
            }

            @Override
            void close() throws IOException {
                kind.close();
            }
        };
    }

    /** Ours, over verbs within this JVM. */
    static class OverLoopback extends AioKind {

        // a busy machine is not a silent peer
        final LoopbackProvider verbs = new LoopbackProvider(new LoopbackConfig().cmTimeoutMillis(30_000));
        final RdmaTransport transport;
        final TransportContext context;
        private final RAsynchronousChannelProvider provider;

        OverLoopback(String settings, Rules rules) throws Exception {
            transport = RdmaTransport.over(verbs);
            TransportHolder holder = TransportHolder.of(transport);
            // A busy machine is not a silent peer, and ports that refused are listened on a moment later.
            context = new TransportContext(
                    Settings.read(settings + ",memory.rejected=0,connect.timeout=50s", new Properties(), Map.of()),
                    rules,
                    holder);
            provider = new RAsynchronousChannelProvider(new RSelectorProvider(context, holder));
        }

        @Override
        AsynchronousChannelProvider provider() {
            return provider;
        }

        @Override
        void silence(InetSocketAddress nobody) {
            verbs.place(nobody.getAddress(), Reachability.SILENT);
        }

        @Override
        void close() throws IOException {
            transport.close();
            verbs.assertClean();
            verbs.close();
        }
    }
}
