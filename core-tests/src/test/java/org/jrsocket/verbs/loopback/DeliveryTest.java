/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jrsocket.Waiting;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.WcBatch;
import org.jrsocket.verbs.loopback.RawEndpoint.Completion;
import org.jrsocket.verbs.loopback.RawEndpoint.Sizes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When messages move: at once, by the wire's thread, or step by step. */
class DeliveryTest {

    private static final int WRITE_IMM = SendBatch.RDMA_WRITE_WITH_IMM;
    private static final int SIGNALED = SendBatch.SIGNALED;

    private LoopbackProvider provider;
    private RawPair pair;
    private RawEndpoint client;
    private RawEndpoint server;

    private void connect(LoopbackConfig config) throws IOException {
        provider = new LoopbackProvider(config);
        pair = RawPair.connected(provider);
        client = pair.client;
        server = pair.server;
        client.receives(16);
        server.receives(16);
    }

    @AfterEach
    void tearDown() throws IOException {
        pair.close();
        provider.assertClean();
        provider.close();
    }

    private void send(RawEndpoint from, int imm) throws IOException {
        from.prepare(imm, WRITE_IMM, SIGNALED, imm, from == client ? server : client, 0, 0)
                .post();
    }

    private static List<Integer> imms(List<Completion> completions) {
        return completions.stream().map(Completion::imm).toList();
    }

    @Test
    void shouldMoveNothingBeforeAStep() throws IOException {
        connect(new LoopbackConfig().delivery(Delivery.STEPPED));
        client.memory.buffer().put(0, (byte) 1);
        client.prepare(1, WRITE_IMM, SIGNALED, 1, server, 0, 1)
                .append(2, WRITE_IMM, SIGNALED, 2, server, 0, 1)
                .post();
        assertEquals(0, server.memory.buffer().get(0));
        assertEquals(List.of(), client.poll(client.sendCq));
        assertTrue(provider.step());
        assertEquals(1, server.memory.buffer().get(0));
        assertEquals(List.of(1), imms(server.poll(server.recvCq)));
        assertEquals(1, client.poll(client.sendCq).size());
        client.memory.buffer().put(0, (byte) 2); // not inline: read when it moves
        assertTrue(provider.step());
        assertEquals(2, server.memory.buffer().get(0));
        assertFalse(provider.step());
    }

    @Test
    void shouldStepInTheOrderOfPosting() throws IOException {
        connect(new LoopbackConfig().delivery(Delivery.STEPPED));
        send(client, 1);
        send(server, 2);
        send(client, 3);
        send(server, 4);
        List<Integer> order = new ArrayList<>();
        provider.onMessage((from, to, opcode, imm, length, address, key) -> order.add(imm));
        assertEquals(4, provider.stepAll());
        assertEquals(List.of(1, 2, 3, 4), order);
    }

    @Test
    void shouldInterleaveDirectionsAtRandomButNeverReorderOne() throws IOException {
        connect(new LoopbackConfig().delivery(Delivery.STEPPED));
        List<Integer> order = new ArrayList<>();
        provider.onMessage((from, to, opcode, imm, length, address, key) -> order.add(imm));
        List<List<Integer>> seen = new ArrayList<>();
        for (int seed = 0; seed < 3; seed++) {
            order.clear();
            for (int i = 0; i < 5; i++) {
                send(client, i);
                send(server, 100 + i);
            }
            Random random = new Random(seed);
            int steps = 0;
            while (provider.step(random)) {
                steps++;
            }
            assertEquals(10, steps);
            assertEquals(
                    List.of(0, 1, 2, 3, 4), order.stream().filter(i -> i < 100).toList());
            assertEquals(
                    List.of(100, 101, 102, 103, 104),
                    order.stream().filter(i -> i >= 100).toList());
            seen.add(List.copyOf(order));
            for (RawEndpoint end : List.of(client, server)) {
                end.poll(end.sendCq);
                end.poll(end.recvCq);
                end.receives(5);
            }
        }
        assertNotEquals(seen.get(0), seen.get(1));
    }

    @Test
    void shouldStepOverAConnectionThatWaitsForReceives() throws IOException {
        connect(new LoopbackConfig().delivery(Delivery.STEPPED));
        for (int i = 0; i < 16; i++) {
            send(client, i);
        }
        provider.stepAll();
        client.poll(client.sendCq);
        send(client, 16);
        send(server, 17);
        assertEquals(1, provider.stepAll());
        assertEquals(1, provider.rnrCount());
        server.poll(server.recvCq);
        server.receives(1);
        assertEquals(1, provider.stepAll());
        assertEquals(1, server.poll(server.recvCq).size());
    }

    @Test
    void shouldFlushWhatWasPostedButNotStepped() throws IOException {
        connect(new LoopbackConfig().delivery(Delivery.STEPPED));
        send(client, 1);
        client.qp().toError();
        assertFalse(provider.step());
        assertEquals(WcBatch.FLUSHED, client.poll(client.sendCq).get(0).status());
        assertEquals(List.of(), server.poll(server.recvCq));
    }

    @Test
    void shouldForgetWhatADestroyedQueuePairPosted() throws IOException {
        connect(new LoopbackConfig().delivery(Delivery.STEPPED));
        send(client, 1);
        client.close();
        assertFalse(provider.step());
    }

    @Test
    void shouldRefuseToStepInOtherModes() throws IOException {
        connect(new LoopbackConfig());
        assertThrows(IllegalStateException.class, provider::step);
    }

    @Test
    void shouldMoveMessagesByItsOwnThread() throws IOException {
        connect(new LoopbackConfig().delivery(Delivery.THREAD));
        Thread[] mover = new Thread[1];
        provider.onMessage((from, to, opcode, imm, length, address, key) -> mover[0] = Thread.currentThread());
        for (int i = 0; i < 200; i++) {
            send(client, i);
            assertEquals(List.of(i), imms(server.poll(server.recvCq, 1)));
            client.poll(client.sendCq, 1);
            server.receives(1);
        }
        assertNotEquals(Thread.currentThread(), mover[0]);
    }

    @Test
    void shouldWakeTheThreadAfterItFellAsleep() throws Exception {
        connect(new LoopbackConfig().delivery(Delivery.THREAD));
        Thread[] mover = new Thread[1];
        provider.onMessage((from, to, opcode, imm, length, address, key) -> mover[0] = Thread.currentThread());
        for (int i = 0; i < 5; i++) {
            send(client, i);
            server.poll(server.recvCq, 1);
            Waiting.parked(mover[0]);
        }
    }

    @Test
    void shouldMoveWhatWaitedForReceivesByTheThreadToo() throws IOException {
        connect(new LoopbackConfig().delivery(Delivery.THREAD));
        for (int i = 0; i < 16; i++) {
            send(client, i);
        }
        server.poll(server.recvCq, 16);
        client.poll(client.sendCq, 16);
        send(client, 16);
        while (provider.rnrCount() == 0) {
            Thread.onSpinWait();
        }
        server.receives(1);
        assertEquals(List.of(16), imms(server.poll(server.recvCq, 1)));
        assertEquals(1, provider.rnrCount());
    }

    @Test
    void shouldLetEachMessageTakeItsTime() throws IOException {
        connect(new LoopbackConfig().delivery(Delivery.THREAD).latencyNanos(3_000_000));
        for (int round = 0; round < 3; round++) {
            long start = System.nanoTime();
            send(client, 1);
            send(server, 2);
            assertEquals(1, server.poll(server.recvCq, 1).size());
            assertTrue(System.nanoTime() - start >= 3_000_000);
            assertEquals(1, client.poll(client.recvCq, 1).size());
        }
    }

    @Test
    void shouldKeepProvidersApart() throws IOException {
        connect(new LoopbackConfig());
        try (LoopbackProvider other = new LoopbackProvider(new LoopbackConfig().name("other"))) {
            RawPair second = RawPair.connected(other, Sizes.DEFAULT);
            second.server.receives(1);
            second.client.prepare(1, WRITE_IMM, 0, 1, second.server, 0, 0).post();
            send(client, 5); // while the other one is what DiSNI knows
            assertEquals(1, server.poll(server.recvCq).size());
            assertEquals(1, second.server.poll(second.server.recvCq).size());
            assertEquals(3, provider.liveObjects().ids());
            assertEquals(3, other.liveObjects().ids());
            client.id.destroyId();
            assertEquals(2, provider.liveObjects().ids());
            assertThrows(
                    IllegalArgumentException.class, () -> provider.openVerbs().allocPd(other.device()));
            second.close();
            other.assertClean();
        }
    }
}
