/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import org.jrsocket.nio.RSelectorProvider;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How a program tests its use of the transport without a device: docs/netty.md. In a class loader of its own. */
@Timeout(300)
class UseVerbsTest {

    /** RDMA has as much time as on a machine that does nothing else. */
    private static final String TIME = "org.jrsocket.connect.timeout";

    @BeforeEach
    void giveTime() {
        System.setProperty(TIME, "50s");
    }

    @AfterEach
    void takeTime() {
        System.clearProperty(TIME);
    }

    static final class Application extends WebApplication {

        Application(String... none) throws Exception {
            super(Verbs.HOST);
        }

        @Override
        public String call() throws Exception {
            try (LoopbackProvider verbs = new LoopbackProvider()) {
                RSelectorProvider.useVerbs(verbs);
                assertThrows(IllegalStateException.class, () -> RSelectorProvider.useVerbs(verbs), "a second time");
                EventLoopGroup loops = loops();
                Channel server = server(loops);
                RdmaSocketChannel client = (RdmaSocketChannel) client(loops, RdmaSocketChannel.class)
                        .connect(server.localAddress())
                        .sync()
                        .channel();
                send(client);
                boolean rdma = client.isRdma();
                client.close().sync();
                server.close().sync();
                end(loops);
                Rdma.shutdown();
                verbs.assertClean();
                return rdma ? "over RDMA" : "over TCP";
            }
        }
    }

    @Test
    void shouldUseTheVerbsThatATestBrings() throws Exception {
        try (ApplicationLoader loader = new ApplicationLoader()) {
            assertEquals("over RDMA", loader.run(Application.class));
        }
    }

    static final class TooLate extends WebApplication {

        TooLate(String... none) throws Exception {
            super(Verbs.HOST);
        }

        @Override
        public String call() throws Exception {
            end(loops());
            try (LoopbackProvider verbs = new LoopbackProvider()) {
                return assertThrows(IllegalStateException.class, () -> RSelectorProvider.useVerbs(verbs))
                        .getMessage();
            } finally {
                Rdma.shutdown();
            }
        }
    }

    @Test
    void shouldSayThatOtherVerbsComeTooLate() throws Exception {
        try (ApplicationLoader loader = new ApplicationLoader()) {
            assertEquals(
                    "jrsocket: the verbs are chosen already; call useVerbs before anything else",
                    loader.run(TooLate.class));
        }
    }
}
