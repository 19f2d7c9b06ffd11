/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.util.concurrent.TimeUnit;
import org.jrsocket.os.NativeMemory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a program can still do when it has shut the transport down; each in a class loader of its own. */
@Timeout(300)
class ShutdownTest {

    private static final String DONE = "done";

    private abstract static class Application extends WebApplication {

        Application() throws Exception {
            super(Verbs.OWN);
        }

        abstract void use(EventLoopGroup loops) throws Exception;

        @Override
        public String call() throws Exception {
            EventLoopGroup loops = loops();
            try {
                use(loops);
            } finally {
                end(loops);
            }
            return DONE;
        }
    }

    private static void run(Class<? extends Application> application) throws Exception {
        try (ApplicationLoader loader = new ApplicationLoader()) {
            assertEquals(DONE, loader.run(application));
        }
    }

    static final class MakingMore extends Application {

        MakingMore(String... none) throws Exception {}

        @Override
        void use(EventLoopGroup loops) {
            assertTrue(Rdma.isAvailable());
            Rdma.shutdown();
            Rdma.shutdown();
            assertFalse(Rdma.isAvailable());
            assertInstanceOf(IllegalStateException.class, Rdma.unavailabilityCause());
            assertThrows(UnsatisfiedLinkError.class, Rdma::ensureAvailability);
            assertThrows(IllegalStateException.class, RdmaIoHandler::newFactory);
            assertThrows(IllegalStateException.class, RdmaSocketChannel::new);
            assertThrows(IllegalStateException.class, RdmaServerSocketChannel::new);
            Throwable cause = client(loops, RdmaSocketChannel.class)
                    .connect(HERE)
                    .awaitUninterruptibly()
                    .cause();
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            assertTrue(cause.getMessage().contains("Rdma.shutdown()"), cause::toString);
            assertEquals(0, Rdma.metrics().copiedBytes());
        }
    }

    @Test
    void shouldSayThatNothingMoreCanBeMade() throws Exception {
        run(MakingMore.class);
    }

    static final class LeavingOpen extends Application {

        LeavingOpen(String... none) throws Exception {}

        @Override
        void use(EventLoopGroup loops) throws Exception {
            Channel server = server(loops);
            RdmaSocketChannel rdma = (RdmaSocketChannel) client(loops, RdmaSocketChannel.class)
                    .connect(server.localAddress())
                    .sync()
                    .channel();
            send(rdma);
            assertTrue(rdma.isRdma());
            Channel tcp = client(loops, NioSocketChannel.class)
                    .connect(server.localAddress())
                    .sync()
                    .channel();
            send(tcp);
            RdmaSocketChannel unconnected = new RdmaSocketChannel();
            loops.register(unconnected).sync();
            Rdma.shutdown();
            assertTrue(rdma.closeFuture().await(ChannelTests.PATIENCE, TimeUnit.SECONDS), "it was reset");
            send(tcp);
            unconnected.connect(server.localAddress()).sync();
            assertFalse(unconnected.isRdma());
            send(unconnected);
            unconnected.close().sync();
            server.close().sync();
        }
    }

    @Test
    void shouldResetWhatIsOpenOverRdmaAndLeaveTcpAlone() throws Exception {
        run(LeavingOpen.class);
    }

    static final class KeepingABuffer extends Application {

        KeepingABuffer(String... none) throws Exception {}

        @Override
        void use(EventLoopGroup loops) {
            long before = NativeMemory.allocatedBytes();
            ByteBuf kept = RdmaByteBufAllocator.DEFAULT.directBuffer(8192);
            RdmaByteBufAllocator.DEFAULT.directBuffer(65536).release();
            Rdma.shutdown();
            kept.writeZero(8192);
            kept.release();
            assertTrue(NativeMemory.allocatedBytes() <= before, "memory of the allocator");
            ByteBuf late = RdmaByteBufAllocator.DEFAULT.directBuffer(8192);
            late.writeZero(8192).release();
            assertTrue(NativeMemory.allocatedBytes() <= before, "memory of the allocator");
        }
    }

    @Test
    void shouldFreeTheMemoryOfTheAllocatorWithItsLastBuffer() throws Exception {
        run(KeepingABuffer.class);
    }

    static final class NeverUsing extends WebApplication {

        NeverUsing(String... none) throws Exception {
            super(Verbs.OWN);
        }

        @Override
        public String call() {
            Rdma.shutdown();
            assertFalse(holder.hasVerbs());
            return DONE;
        }
    }

    @Test
    void shouldOpenNothingInOrderToEndIt() throws Exception {
        try (ApplicationLoader loader = new ApplicationLoader()) {
            assertEquals(DONE, loader.run(NeverUsing.class));
        }
    }
}
