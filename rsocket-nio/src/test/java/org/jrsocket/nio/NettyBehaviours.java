/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.AbstractSocketReuseFdTest;
import io.netty.testsuite.transport.socket.CompositeBufferGatheringWriteTest;
import io.netty.testsuite.transport.socket.SocketAddressesTest;
import io.netty.testsuite.transport.socket.SocketAutoReadTest;
import io.netty.testsuite.transport.socket.SocketBufReleaseTest;
import io.netty.testsuite.transport.socket.SocketCancelWriteTest;
import io.netty.testsuite.transport.socket.SocketChannelNotYetConnectedTest;
import io.netty.testsuite.transport.socket.SocketCloseForciblyTest;
import io.netty.testsuite.transport.socket.SocketConditionalWritabilityTest;
import io.netty.testsuite.transport.socket.SocketConnectTest;
import io.netty.testsuite.transport.socket.SocketConnectionAttemptTest;
import io.netty.testsuite.transport.socket.SocketDataReadInitialStateTest;
import io.netty.testsuite.transport.socket.SocketEchoTest;
import io.netty.testsuite.transport.socket.SocketExceptionHandlingTest;
import io.netty.testsuite.transport.socket.SocketFileRegionTest;
import io.netty.testsuite.transport.socket.SocketFixedLengthEchoTest;
import io.netty.testsuite.transport.socket.SocketGatheringWriteTest;
import io.netty.testsuite.transport.socket.SocketHalfClosedTest;
import io.netty.testsuite.transport.socket.SocketMultipleConnectTest;
import io.netty.testsuite.transport.socket.SocketObjectEchoTest;
import io.netty.testsuite.transport.socket.SocketReadPendingTest;
import io.netty.testsuite.transport.socket.SocketRstTest;
import io.netty.testsuite.transport.socket.SocketShutdownOutputByPeerTest;
import io.netty.testsuite.transport.socket.SocketShutdownOutputBySelfTest;
import io.netty.testsuite.transport.socket.SocketSpdyEchoTest;
import io.netty.testsuite.transport.socket.SocketSslEchoTest;
import io.netty.testsuite.transport.socket.SocketSslGreetingTest;
import io.netty.testsuite.transport.socket.SocketSslSessionReuseTest;
import io.netty.testsuite.transport.socket.SocketStartTlsTest;
import io.netty.testsuite.transport.socket.SocketStringEchoTest;
import io.netty.testsuite.transport.socket.WriteBeforeRegisteredTest;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Netty's own tests of a stream transport, run for one transport over one kind of provider: each class of
 * {@code netty-testsuite} that applies, unchanged. {@link NettySuiteTest} sees to it that none is forgotten.
 */
@Tag("slow")
public abstract class NettyBehaviours {

    /** A transport of Netty's: its event loops and channels. */
    public interface Transport {
        IoHandlerFactory newHandlerFactory();

        Channel newChannel();

        ServerChannel newServerChannel();

        /** Options that each accepted channel is to have. */
        default void configure(ServerBootstrap server) {}

        /** Netty's own. */
        static Transport nio(SelectorProvider provider) {
            return new Transport() {
                @Override
                public IoHandlerFactory newHandlerFactory() {
                    return NioIoHandler.newFactory(provider);
                }

                @Override
                public Channel newChannel() {
                    return new NioSocketChannel(provider);
                }

                @Override
                public ServerChannel newServerChannel() {
                    return new NioServerSocketChannel(provider);
                }
            };
        }
    }

    /** The kind under test, with a transport's event loops over its provider. */
    public static final class Netty {

        /** Connections that the suite's tests of servers make with plain sockets. */
        private static final int PLAIN_CLIENTS = 4;

        /** All tests together make many more. A test that has failed is repeated alone, and may connect nobody. */
        private static final int CLIENTS_OF_ONE_TEST = 20;

        private final NioKind kind;
        private final Transport transport;
        private final EventLoopGroup boss;
        private final EventLoopGroup workers;
        private final AtomicInteger clients = new AtomicInteger();

        Netty(NioKind kind) throws IOException {
            this(kind, Transport.nio(kind.provider()));
        }

        public Netty(NioKind kind, Transport transport) throws IOException {
            kind.silence(SilentPort.forNetty());
            this.kind = kind;
            this.transport = transport;
            this.boss = group("boss", 1);
            this.workers = group("worker", 2);
        }

        private EventLoopGroup group(String name, int threads) {
            return new MultiThreadIoEventLoopGroup(
                    threads, new DefaultThreadFactory("netty-" + name, true), transport.newHandlerFactory());
        }

        ServerBootstrap server() {
            ServerBootstrap server =
                    new ServerBootstrap().group(boss, workers).channelFactory(transport::newServerChannel);
            transport.configure(server);
            return server;
        }

        Bootstrap client() {
            return new Bootstrap().group(workers).channelFactory(() -> {
                clients.incrementAndGet();
                return transport.newChannel();
            });
        }

        List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> both() {
            return List.of(new BootstrapComboFactory<>() {
                @Override
                public ServerBootstrap newServerInstance() {
                    return server();
                }

                @Override
                public Bootstrap newClientInstance() {
                    return client();
                }
            });
        }

        public void close() throws Exception {
            workers.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
            boss.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
            if (clients.get() > CLIENTS_OF_ONE_TEST) {
                kind.assertUsed(PLAIN_CLIENTS);
            }
            kind.close();
        }
    }

    protected abstract Netty netty();

    /** Whether it is the address that servers listen on. */
    protected boolean isOurs(InetAddress address) {
        return address.isLoopbackAddress();
    }

    @Nested
    class SocketFileRegion extends SocketFileRegionTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketAddresses extends SocketAddressesTest {
        @Override
        protected void assertAddress(SocketAddress address) {
            assertTrue(((InetSocketAddress) address).getPort() > 0);
            assertTrue(isOurs(((InetSocketAddress) address).getAddress()), address::toString);
        }

        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketReuseFd extends AbstractSocketReuseFdTest {
        @Override
        protected SocketAddress newSocketAddress() {
            return new InetSocketAddress(NetUtil.LOCALHOST, 0);
        }

        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketConnect extends SocketConnectTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketGatheringWrite extends SocketGatheringWriteTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketBufRelease extends SocketBufReleaseTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketHalfClosed extends SocketHalfClosedTest {
        @Override // and so no test: nothing with NIO, to which a channel without auto-read does not tell of the end
        public void testAllDataReadEventTriggeredAfterHalfClosure(TestInfo test) {
            throw new AssertionError("not a test");
        }

        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketConditionalWritability extends SocketConditionalWritabilityTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketFixedLengthEcho extends SocketFixedLengthEchoTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketStringEcho extends SocketStringEchoTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketMultipleConnect extends SocketMultipleConnectTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketCloseForcibly extends SocketCloseForciblyTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketObjectEcho extends SocketObjectEchoTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketSpdyEcho extends SocketSpdyEchoTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketStartTls extends SocketStartTlsTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketAutoRead extends SocketAutoReadTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketDataReadInitialState extends SocketDataReadInitialStateTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketEcho extends SocketEchoTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketCancelWrite extends SocketCancelWriteTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketRst extends SocketRstTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class CompositeBufferGatheringWrite extends CompositeBufferGatheringWriteTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketExceptionHandling extends SocketExceptionHandlingTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketReadPending extends SocketReadPendingTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketSslGreeting extends SocketSslGreetingTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketSslSessionReuse extends SocketSslSessionReuseTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    /** To the combinations of Netty's flags the JDK makes no difference; it has the other tests of TLS. */
    @Nested
    @Tag("once")
    class SocketSslEcho extends SocketSslEchoTest {
        @Override
        @ParameterizedTest(
                name = "{index}: serverEngine = {0}, clientEngine = {1}, renegotiation = {2}, server's tasks {3},"
                        + " client's {4}, autoRead = {5}, chunked = {6}, composite = {7}")
        @MethodSource("org.jrsocket.nio.TlsEchoes#some")
        @Timeout(30)
        public void testSslEcho(
                SslContext server,
                SslContext client,
                Renegotiation renegotiation,
                boolean delegated,
                boolean clientDelegated,
                boolean autoRead,
                boolean chunked,
                boolean composite,
                TestInfo test)
                throws Throwable {
            super.testSslEcho(
                    server, client, renegotiation, delegated, clientDelegated, autoRead, chunked, composite, test);
        }

        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return netty().both();
        }
    }

    @Nested
    class SocketShutdownOutputBySelf extends SocketShutdownOutputBySelfTest {
        @Override // and so no test: disabled in Netty, and fails with the JDK's provider too
        public void testWriteAfterShutdownOutputNoWritabilityChange(TestInfo test) {
            throw new AssertionError("not a test");
        }

        @Override
        protected List<BootstrapFactory<Bootstrap>> newFactories() {
            return List.of(netty()::client);
        }
    }

    @Nested
    class SocketConnectionAttempt extends SocketConnectionAttemptTest {
        @Override
        protected List<BootstrapFactory<Bootstrap>> newFactories() {
            return List.of(netty()::client);
        }
    }

    @Nested
    class WriteBeforeRegistered extends WriteBeforeRegisteredTest {
        @Override
        protected List<BootstrapFactory<Bootstrap>> newFactories() {
            return List.of(netty()::client);
        }
    }

    @Nested
    class SocketChannelNotYetConnected extends SocketChannelNotYetConnectedTest {
        @Override
        protected List<BootstrapFactory<Bootstrap>> newFactories() {
            return List.of(netty()::client);
        }
    }

    @Nested
    class SocketShutdownOutputByPeer extends SocketShutdownOutputByPeerTest {
        @Override
        protected List<BootstrapFactory<ServerBootstrap>> newFactories() {
            return List.of(netty()::server);
        }
    }
}
