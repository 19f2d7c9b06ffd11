/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.WcBatch;
import org.jrsocket.verbs.loopback.RawEndpoint.Sizes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Two threads, one at each end: nothing is lost or reordered, and nothing is allocated. */
class HotPathTest {

    private static final int SIGNALED = SendBatch.SIGNALED;
    private static final int QUEUE = 64;
    private static final int PINGS = 4000;
    private static final int PART = 500;
    private static final long DEADLINE_NANOS = 60_000_000_000L;

    private LoopbackProvider provider;
    private RawPair pair;

    private void connect(Delivery delivery) throws IOException {
        provider = new LoopbackProvider(new LoopbackConfig().delivery(delivery));
        pair = RawPair.connected(provider, Sizes.DEFAULT.queues(QUEUE, QUEUE).memory(QUEUE * 4096));
        pair.client.receives(QUEUE);
        pair.server.receives(QUEUE);
    }

    @AfterEach
    void tearDown() throws IOException {
        pair.close();
        provider.assertClean();
        provider.close();
    }

    private static long inTwoThreads(FutureTask<Long> one, FutureTask<Long> two)
            throws InterruptedException, ExecutionException {
        Thread first = new Thread(one, "client");
        Thread second = new Thread(two, "server");
        first.start();
        second.start();
        first.join();
        second.join();
        long result = two.get(); // the one that waits for it fails too, but later
        return result + one.get();
    }

    @ParameterizedTest
    @EnumSource(
            value = Delivery.class,
            names = {"IMMEDIATE", "THREAD"})
    void shouldAllocateNothing(Delivery delivery) throws Exception {
        assumeTrue(
                ManagementFactory.getThreadMXBean() instanceof ThreadMXBean,
                "this JVM does not tell what a thread allocates");
        connect(delivery);
        long allocated = inTwoThreads(
                new FutureTask<>(() -> pingPong(pair.client, pair.server, true)),
                new FutureTask<>(() -> pingPong(pair.server, pair.client, false)));
        assertTrue(allocated < PART / 2, allocated + " bytes allocated by both ends for " + PART + " messages");
    }

    /**
     * Bytes that this thread allocated for some of many messages to and fro, with events taken for some of them: the
     * least of all parts, since in any of them a branch that is rarely taken may be linked, which takes memory once.
     */
    private static long pingPong(RawEndpoint self, RawEndpoint peer, boolean first) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long me = Thread.currentThread().getId();
        long start = System.nanoTime();
        long asking = threads.getThreadAllocatedBytes(me);
        long before = threads.getThreadAllocatedBytes(me);
        asking = before - asking; // what it costs to ask
        long least = Long.MAX_VALUE;
        if (first) {
            send(self, peer);
        }
        for (int i = 0; i < PINGS; i++) {
            if (i > 0 && i % PART == 0) {
                long now = threads.getThreadAllocatedBytes(me);
                least = Math.min(least, Math.max(0, now - before - asking));
                before = now;
            }
            if (i % 8 == 0) {
                self.recvCq.arm();
            }
            int n = 0;
            while (n == 0) {
                n = self.recvCq.spin(2_000) ? self.recvCq.poll(self.wc) : 0;
                if (n == 0) {
                    Thread.yield(); // the machine may have fewer free processors than there are threads here
                }
                if (System.nanoTime() - start > DEADLINE_NANOS) {
                    if (i <= 2 * PART) {
                        throw new AssertionError("stuck at message " + i);
                    }
                    return least; // enough, where two threads get a processor in turn, and not often
                }
            }
            check(n == 1 && self.wc.status(0) == WcBatch.SUCCESS);
            self.channel.takeEvent();
            check(self.qp().postReceives(1) == 1);
            if (!first || i < PINGS - 1) {
                send(self, peer);
            }
        }
        return least;
    }

    private static void send(RawEndpoint self, RawEndpoint peer) {
        int n = self.sendCq.poll(self.wc);
        check(n >= 0);
        self.prepare(1, SendBatch.RDMA_WRITE_WITH_IMM, SIGNALED | SendBatch.INLINE, 8, peer, 0, 8);
        check(self.qp().postSend(self.batch) == 1);
    }

    private static void check(boolean ok) {
        if (!ok) {
            throw new AssertionError();
        }
    }

    /**
     * Full duplex: each end fills its peer's slots in turn, with random lengths, and reuses one only after the peer
     * acknowledged it. The receiver checks each byte. Receives are sometimes posted late, so that RNR happens.
     */
    @ParameterizedTest
    @EnumSource(
            value = Delivery.class,
            names = {"IMMEDIATE", "THREAD"})
    void shouldKeepEveryByteInBothDirectionsAtOnce(Delivery delivery) throws Exception {
        connect(delivery);
        inTwoThreads(
                new FutureTask<>(() -> duplex(pair.client, pair.server, 1)),
                new FutureTask<>(() -> duplex(pair.server, pair.client, 2)));
        assertTrue(provider.messageCount() >= 4000);
    }

    private static long duplex(RawEndpoint self, RawEndpoint peer, int seed) throws IOException {
        int messages = 2000;
        int slots = QUEUE / 4;
        int half = slots * 4096;
        SplittableRandom random = new SplittableRandom(seed);
        int sent = 0;
        int received = 0;
        int acknowledged = 0;
        int sendSlots = QUEUE;
        int owedReceives = 0;
        List<Integer> toAck = new ArrayList<>();
        byte[] copy = new byte[4096];
        byte[] pattern = new byte[4096 + 256];
        for (int i = 0; i < pattern.length; i++) {
            pattern[i] = (byte) i;
        }
        long start = System.nanoTime();
        while (received < messages || acknowledged < messages || !toAck.isEmpty()) {
            if (System.nanoTime() - start > DEADLINE_NANOS) {
                throw new AssertionError(
                        "stuck: sent " + sent + ", received " + received + ", acknowledged " + acknowledged);
            }
            self.batch.clear();
            while (!toAck.isEmpty() && sendSlots > 0) {
                self.append(0, SendBatch.RDMA_WRITE_WITH_IMM, SIGNALED, -1 - toAck.remove(0), peer, 0, 0);
                sendSlots--;
            }
            while (sent < messages
                    && sent - acknowledged < slots
                    && sendSlots > 0
                    && self.batch.size() < self.batch.capacity()) {
                int slot = sent % slots;
                int length = 1 + random.nextInt(4096);
                self.memory.buffer().put(half + slot * 4096, pattern, sent & 0xff, length);
                self.batch.add(
                        sent,
                        SendBatch.RDMA_WRITE_WITH_IMM,
                        SIGNALED,
                        sent << 13 | length,
                        peer.memory.address() + slot * 4096L,
                        peer.mr.getRkey());
                self.batch.sge(self.memory.address() + half + slot * 4096L, length, self.mr.getLkey());
                sent++;
                sendSlots--;
            }
            self.post();
            for (RawEndpoint.Completion done : self.poll(self.sendCq)) {
                check(done.status() == WcBatch.SUCCESS);
                sendSlots++;
            }
            for (RawEndpoint.Completion came : self.poll(self.recvCq)) {
                check(came.status() == WcBatch.SUCCESS);
                owedReceives++;
                if (came.imm() < 0) {
                    check(-1 - came.imm() == acknowledged);
                    acknowledged++;
                } else {
                    int number = came.imm() >>> 13;
                    int length = came.imm() & 0x1fff;
                    check(number == received && came.length() == length);
                    self.memory.buffer().get(number % slots * 4096, copy, 0, length);
                    check(Arrays.equals(copy, 0, length, pattern, number & 0xff, (number & 0xff) + length));
                    received++;
                    toAck.add(number);
                }
            }
            Thread.yield();
            if (owedReceives > QUEUE / 2 || random.nextInt(4) == 0) {
                self.receives(owedReceives);
                owedReceives = 0;
            }
        }
        self.receives(owedReceives);
        return 0;
    }

    @Test
    void shouldSurviveOneEndFailingWhileTheOtherPosts() throws Exception {
        for (int round = 0; round < 90; round++) {
            connect(round % 2 == 0 ? Delivery.IMMEDIATE : Delivery.THREAD);
            RawEndpoint client = pair.client;
            RawEndpoint server = pair.server;
            FutureTask<Long> poster = new FutureTask<>(() -> {
                long posted = 0;
                long completed = 0;
                long start = System.nanoTime();
                while (client.qp().currentState() == com.ibm.disni.verbs.IbvQP.IBV_QPS_RTS) {
                    if (System.nanoTime() - start > DEADLINE_NANOS) {
                        throw new AssertionError("nothing fails after " + posted + " requests");
                    }
                    client.prepare(1, SendBatch.RDMA_WRITE_WITH_IMM, SIGNALED, 1, server, 0, 100);
                    posted += client.qp().postSend(client.batch);
                    completed += client.poll(client.sendCq).size();
                }
                // the flush may still be under way
                completed +=
                        client.poll(client.sendCq, (int) (posted - completed)).size();
                client.qp().barrier();
                return posted - completed - client.poll(client.sendCq).size();
            });
            int pause = round;
            FutureTask<Long> breaker = new FutureTask<>(() -> {
                for (int i = 0; i < pause * 20; i++) {
                    Thread.onSpinWait();
                    for (int n = server.recvCq.poll(server.wc); n > 0; n--) {
                        server.qp().postReceives(1);
                    }
                }
                if (pause % 3 == 0) {
                    client.qp().toError();
                } else if (pause % 3 == 1) {
                    server.verbs.deregisterMr(server.mr);
                    // With none posted the client would wait for one for ever, and never meet the missing key; and a
                    // used one has to be polled before there is room for another.
                    for (int n = server.recvCq.poll(server.wc); n > 0; n--) {
                        server.qp().postReceives(1);
                    }
                } else {
                    server.cm.destroyQP(server.id);
                    provider.expireTimeouts();
                    client.qp().toError();
                }
                return 0L;
            });
            assertEquals(0, inTwoThreads(poster, breaker), "each request completes exactly once");
            if (pause % 3 == 1) {
                server.reregister();
            }
            if (round < 89) {
                tearDown();
            }
        }
    }
}
