/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.resolver.DefaultAddressResolverGroup;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jrsocket.interop.frameworks.grpc.BlobClient;
import org.jrsocket.interop.frameworks.grpc.BlobServer;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;

/** Frameworks on Netty, given our transport as their users would give it to them. Every byte is compared. */
abstract class FrameworkBehaviours {

    /** Only what hangs takes as long. */
    static final Duration PATIENCE = Duration.ofMinutes(4);

    private static final int BLOBS = 4;
    private static final int BLOB = 50_000;
    private static final int REQUESTS = 2;
    private static final int BODY = 100_000;

    /** Where a server and its client meet, and what their channels are. */
    record Site(
            String address,
            EventLoopGroup loops,
            ChannelFactory<RdmaSocketChannel> clients,
            ChannelFactory<RdmaServerSocketChannel> servers,
            boolean lendReceives,
            Certificate certificate) {

        static Site of(
                String address,
                EventLoopGroup loops,
                ChannelFactory<RdmaSocketChannel> clients,
                ChannelFactory<RdmaServerSocketChannel> servers,
                boolean lendReceives)
                throws Exception {
            return new Site(address, loops, clients, servers, lendReceives, Certificate.of(address));
        }

        InetSocketAddress any() {
            return new InetSocketAddress(address, 0);
        }
    }

    abstract Site site();

    /** Fails unless our transport has carried {@code bytes} of payload as it should, after {@code before}. */
    abstract void check(Counted before, long bytes) throws Exception;

    /** Returns how many bytes it has sent and received. */
    private interface Work {
        long run() throws Exception;
    }

    private void carry(Work work) throws Exception {
        Counted before = Counted.now();
        long bytes = work.run();
        check(before, bytes);
    }

    static byte[][] bodies() {
        SplittableRandom random = new SplittableRandom(5);
        byte[][] bodies = new byte[REQUESTS][BODY];
        for (byte[] body : bodies) {
            random.nextBytes(body);
        }
        return bodies;
    }

    // ---- gRPC ----

    @Test
    void shouldCarryGrpcCallsOfAllKinds() throws Exception {
        carry(() -> grpc(false));
    }

    @Test
    void shouldCarryGrpcCallsOfAllKindsOverTls() throws Exception {
        carry(() -> grpc(true));
    }

    private long grpc(boolean tls) throws Exception {
        Site site = site();
        NettyServerBuilder builder = NettyServerBuilder.forAddress(site.any())
                .bossEventLoopGroup(site.loops)
                .workerEventLoopGroup(site.loops)
                .channelFactory(site.servers)
                .withChildOption(ChannelOption.ALLOCATOR, RdmaByteBufAllocator.DEFAULT)
                .withChildOption(RdmaChannelOption.LEND_RECEIVES, site.lendReceives)
                .addService(BlobServer.service());
        if (tls) {
            builder.sslContext(
                    GrpcSslContexts.configure(site.certificate.server()).build());
        }
        Server server = builder.build().start();
        try {
            return grpc(server.getPort(), tls);
        } finally {
            server.shutdownNow().awaitTermination();
        }
    }

    private long grpc(int port, boolean tls) throws Exception {
        Site site = site();
        NettyChannelBuilder builder = NettyChannelBuilder.forAddress(new InetSocketAddress(site.address, port))
                .eventLoopGroup(site.loops)
                .channelFactory(site.clients)
                .withOption(ChannelOption.ALLOCATOR, RdmaByteBufAllocator.DEFAULT)
                .withOption(RdmaChannelOption.LEND_RECEIVES, site.lendReceives);
        if (tls) {
            builder.sslContext(
                    GrpcSslContexts.configure(site.certificate.client()).build());
        } else {
            builder.usePlaintext();
        }
        ManagedChannel channel = builder.build();
        try {
            return BlobClient.calls(channel, BLOBS, BLOB, 7);
        } finally {
            channel.shutdownNow();
            assertTrue(channel.awaitTermination(PATIENCE.toSeconds(), TimeUnit.SECONDS), "the channel did not end");
        }
    }

    // ---- Netty's codecs ----

    @Test
    void shouldServeHttpOverTls() throws Exception {
        carry(() -> HttpEcho.http1(site(), bodies()));
    }

    @Test
    void shouldServeTheStreamsOfHttp2OverTls() throws Exception {
        carry(() -> HttpEcho.http2(site(), bodies()));
    }

    // ---- reactor-netty ----

    @Test
    void shouldServeReactorNettyOverTls() throws Exception {
        carry(this::reactor);
    }

    private long reactor() throws Exception {
        Site site = site();
        ReactorLoops loops = new ReactorLoops(site);
        SslContextBuilder keys = site.certificate.server();
        SslContextBuilder trust = site.certificate.client();
        SocketAddress any = site.any();
        var serverTls = keys.build();
        var clientTls = trust.build();
        DisposableServer server = HttpServer.create()
                .runOn(loops, false)
                .bindAddress(() -> any)
                .childOption(ChannelOption.ALLOCATOR, RdmaByteBufAllocator.DEFAULT)
                .childOption(RdmaChannelOption.LEND_RECEIVES, site.lendReceives)
                .secure(spec -> spec.sslContext(serverTls))
                .handle((request, response) -> response.send(request.receive().retain()))
                .bindNow(PATIENCE);
        try {
            HttpClient client = HttpClient.newConnection()
                    .runOn(loops, false)
                    .resolver(DefaultAddressResolverGroup.INSTANCE)
                    .option(ChannelOption.ALLOCATOR, RdmaByteBufAllocator.DEFAULT)
                    .option(RdmaChannelOption.LEND_RECEIVES, site.lendReceives)
                    .secure(spec -> spec.sslContext(clientTls));
            long bytes = 0;
            for (byte[] body : bodies()) {
                byte[] answer = client.post()
                        .uri("https://" + site.address + ':' + server.port() + '/')
                        .send(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(body)))
                        .responseSingle((head, content) -> content.asByteArray())
                        .block(PATIENCE);
                assertArrayEquals(body, answer);
                bytes += 2L * body.length;
            }
            return bytes;
        } finally {
            server.disposeNow(PATIENCE);
        }
    }

    /** Waits until RDMA has carried {@code bytes}, both ways together: what was sent is counted when it is gone. */
    static void awaitOverRdma(Counted before, long bytes) throws InterruptedException {
        ChannelTests.await(
                () -> Counted.since(before).sent() >= bytes
                        && Counted.since(before).received() >= bytes,
                () -> Counted.since(before) + " of " + bytes + " bytes");
    }

    static void assertNotOverRdma(Counted before) {
        assertEquals(new Counted(0, 0, 0, 0), Counted.since(before));
    }
}
