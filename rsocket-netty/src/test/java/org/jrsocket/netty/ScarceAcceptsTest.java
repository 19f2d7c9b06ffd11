/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.resolver.AddressResolver;
import io.netty.util.AttributeKey;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.FileInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jrsocket.nio.FewDescriptors;
import org.jrsocket.nio.NioKind;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An accept that throws: a server that has no descriptor for a connection goes on, and accepts it when it has one. */
@Tag("slow")
@Timeout(120)
class ScarceAcceptsTest {

    @TempDir
    private Path folder;

    @Test
    void shouldAcceptOnceThereIsADescriptor() throws Exception {
        FewDescriptors.run(
                Program.class,
                folder,
                RdmaServerSocketChannel.class,
                Bootstrap.class,
                ByteBuf.class,
                AddressResolver.class,
                AttributeKey.class);
    }

    /** What the new JVM does. */
    @SuppressWarnings("FutureReturnValueIgnored") // what fails shows in what arrives
    static final class Program {

        public static void main(String[] arguments) throws Exception {
            NioKind kind = NioKind.loopback();
            BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
            EventLoopGroup loops = new MultiThreadIoEventLoopGroup(
                    1, new DefaultThreadFactory("netty", true), RdmaIoHandler.newFactory(kind.provider()));
            Channel server = new ServerBootstrap()
                    .group(loops)
                    .channelFactory(() -> new RdmaServerSocketChannel(kind.provider()))
                    .handler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                            failures.add(cause);
                            context.fireExceptionCaught(cause);
                        }
                    })
                    .childHandler(new Echo())
                    .bind(new InetSocketAddress("127.0.0.1", 0))
                    .sync()
                    .channel();
            echo(SocketChannel.open(server.localAddress())); // so that all classes are loaded
            server.pipeline().fireExceptionCaught(new IOException("no harm"));
            failures.take();
            // After a failure the bootstrap's handler has the server read nothing, and a second later read again.
            server.eventLoop().submit(() -> {}).sync();
            while (!server.config().isAutoRead()) {
                Thread.sleep(10);
            }
            server.config().setAutoRead(false);
            server.eventLoop().submit(() -> {}).sync(); // until then the loop may still accept
            SocketChannel client = SocketChannel.open(server.localAddress());
            List<FileInputStream> hogs = new ArrayList<>(FewDescriptors.hogAll());
            server.config().setAutoRead(true);
            Throwable failure = failures.poll(60, TimeUnit.SECONDS);
            assertEquals("Too many open files", failure.getMessage(), failure::toString);
            assertTrue(server.isOpen());
            for (FileInputStream hog : hogs) {
                hog.close();
            }
            echo(client);
            try (SocketChannel overRdma = kind.provider().openSocketChannel()) {
                overRdma.connect(server.localAddress());
                assertTrue(overRdma.toString().endsWith(" over RDMA]"), overRdma::toString);
                echo(overRdma);
            }
        }

        @ChannelHandler.Sharable
        private static final class Echo extends ChannelInboundHandlerAdapter {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                context.writeAndFlush(message);
            }
        }

        private static void echo(SocketChannel client) throws IOException {
            assertEquals(1, client.write(ByteBuffer.allocate(1)));
            assertEquals(1, client.read(ByteBuffer.allocate(1)));
        }
    }
}
