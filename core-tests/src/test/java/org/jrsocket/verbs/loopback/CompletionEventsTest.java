/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.jrsocket.Waiting;
import org.jrsocket.os.Epoll;
import org.jrsocket.os.Fds;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.WcBatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Arming, events, descriptors, acknowledging. */
class CompletionEventsTest {

    private static final int RECV = 0;
    private static final int SEND = 1;

    private final LoopbackProvider provider = new LoopbackProvider();
    private RawPair pair;
    private RawEndpoint client;
    private RawEndpoint server;

    @BeforeEach
    void setUp() throws IOException {
        pair = RawPair.connected(provider);
        client = pair.client;
        server = pair.server;
        server.receives(8);
    }

    @AfterEach
    void tearDown() throws IOException {
        pair.close();
        provider.assertClean();
        provider.close();
    }

    private void message() throws IOException {
        client.prepare(1, SendBatch.RDMA_WRITE_WITH_IMM, SendBatch.SIGNALED, 1, server, 0, 0)
                .post();
    }

    private boolean readable(RawEndpoint endpoint) {
        return Fds.waitReadable(endpoint.channel.getFd(), -1, 0) == 1;
    }

    @Test
    void shouldRaiseOneEventPerArm() throws IOException {
        assertEquals(0, server.recvCq.arm());
        assertEquals(0, server.recvCq.arm()); // twice is once
        message();
        message();
        assertTrue(readable(server));
        assertEquals(RECV, server.channel.takeEvent());
        assertEquals(-1, server.channel.takeEvent());
        assertTrue(!readable(server));
        message();
        assertEquals(-1, server.channel.takeEvent()); // not armed again
    }

    @Test
    void shouldRaiseNothingForCompletionsThatWereThereBefore() throws IOException {
        message();
        server.recvCq.arm();
        assertEquals(-1, server.channel.takeEvent());
        assertEquals(1, server.poll(server.recvCq).size());
        message();
        assertEquals(RECV, server.channel.takeEvent());
    }

    @Test
    void shouldRaiseNothingWithoutAnArm() throws IOException {
        message();
        assertEquals(-1, server.channel.takeEvent());
        assertTrue(!readable(server));
    }

    @Test
    void shouldTellTheQueuesOfOneChannelApart() throws IOException {
        client.receives(1);
        client.recvCq.arm();
        client.sendCq.arm();
        message();
        server.prepare(1, SendBatch.RDMA_WRITE_WITH_IMM, 0, 1, client, 0, 0).post();
        assertEquals(SEND, client.channel.takeEvent());
        assertTrue(readable(client));
        assertEquals(RECV, client.channel.takeEvent());
        assertTrue(!readable(client));
    }

    @Test
    void shouldRaiseAnEventForFlushedCompletions() throws IOException {
        server.recvCq.arm();
        server.qp().toError();
        assertEquals(RECV, server.channel.takeEvent());
    }

    @Test
    void shouldQueueOneEventForEachTimeItWasArmedAgain() throws IOException {
        for (int i = 0; i < 40; i++) {
            server.recvCq.arm();
            message();
            client.poll(client.sendCq);
            server.poll(server.recvCq);
            server.receives(1);
        }
        int events = 0;
        while (server.channel.takeEvent() == RECV) {
            events++;
        }
        assertEquals(40, events);
    }

    @Test
    void shouldWakeAnEpollSet() throws IOException {
        try (Epoll epoll = new Epoll(4)) {
            epoll.add(server.channel.getFd(), Epoll.IN, 42);
            server.recvCq.arm();
            assertEquals(0, epoll.await(0));
            message();
            assertEquals(1, epoll.await(0));
            assertEquals(42, epoll.data(0));
            assertEquals(RECV, server.channel.takeEvent());
            assertEquals(0, epoll.await(0));
        }
    }

    @Test
    void shouldDestroyAQueueWhoseEventsWereTaken() throws IOException {
        server.recvCq.arm();
        message();
        assertEquals(RECV, server.channel.takeEvent());
        server.cm.destroyQP(server.id);
        assertEquals(0, server.recvCq.destroyCQ());
    }

    @Test
    void shouldDropEventsNobodyTookWhenTheQueueIsDestroyed() throws IOException {
        server.recvCq.arm();
        message();
        server.cm.destroyQP(server.id);
        server.recvCq.destroyCQ();
        assertEquals(-1, server.channel.takeEvent());
        assertTrue(!readable(server));
    }

    @Test
    void shouldPollInPortionsOfTheBatch() throws IOException {
        WcBatch two = new WcBatch(2);
        for (int i = 0; i < 3; i++) {
            message();
        }
        assertEquals(2, server.recvCq.poll(two));
        assertEquals(1, server.recvCq.poll(two));
        assertEquals(0, server.recvCq.poll(two));
        assertEquals(server.qp().number(), two.qpNumber(0));
        two.free();
    }

    @Test
    void shouldSpinUntilSomethingCompletesOrTheTimeIsOver() throws Exception {
        long start = System.nanoTime();
        assertFalse(server.recvCq.spin(2_000_000));
        assertTrue(System.nanoTime() - start >= 2_000_000);
        assertFalse(server.recvCq.spin(0));
        Thread spinning = Thread.currentThread();
        Thread later = new Thread(() -> {
            try {
                Waiting.inside(spinning, LoopbackCq.class, "spin");
                message();
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        later.start();
        assertTrue(server.recvCq.spin(10_000_000_000L));
        assertTrue(server.recvCq.spin(0), "a look takes nothing");
        assertEquals(1, server.recvCq.poll(server.wc));
        later.join();
    }
}
