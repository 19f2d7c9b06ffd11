/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvQP;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jrsocket.os.Errno;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.verbs.Mr;
import org.jrsocket.verbs.Pd;
import org.jrsocket.verbs.RecvBatch;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.WcBatch;
import org.jrsocket.verbs.loopback.RawEndpoint.Completion;
import org.jrsocket.verbs.loopback.RawEndpoint.Sizes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Writes and sends: what arrives, what is refused, and what both ends are told. */
class DataTransferTest {

    private static final int WRITE = SendBatch.RDMA_WRITE;
    private static final int WRITE_IMM = SendBatch.RDMA_WRITE_WITH_IMM;
    private static final int SIGNALED = SendBatch.SIGNALED;

    private final LoopbackProvider provider = new LoopbackProvider(new LoopbackConfig().retryTimeoutMillis(0));
    private RawPair pair;
    private RawEndpoint client;
    private RawEndpoint server;

    private void connect(Sizes sizes) throws IOException {
        pair = RawPair.connected(provider, sizes);
        client = pair.client;
        server = pair.server;
    }

    private void connect() throws IOException {
        connect(Sizes.DEFAULT);
    }

    @AfterEach
    void tearDown() throws IOException {
        if (pair != null) {
            pair.close();
        }
        provider.assertClean();
        provider.close();
    }

    private static void fill(RawEndpoint endpoint, String text) {
        endpoint.memory.buffer().put(0, text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String text(RawEndpoint endpoint, int offset, int length) {
        byte[] bytes = new byte[length];
        endpoint.memory.buffer().get(offset, bytes);
        return new String(bytes, StandardCharsets.US_ASCII);
    }

    private static void assertBroken(RawEndpoint endpoint) {
        assertEquals(IbvQP.IBV_QPS_ERR, endpoint.qp().currentState());
    }

    @Test
    void shouldCarryAWriteWithImmediateDataToItsAddress() throws IOException {
        connect();
        server.receives(1);
        fill(client, "hello");
        client.prepare(7, WRITE_IMM, SIGNALED, 0x80000180, server, 100, 5).post();
        assertEquals("hello", text(server, 100, 5));
        assertEquals(
                List.of(new Completion(
                        0, WcBatch.SUCCESS, WcBatch.OP_RECV_RDMA_WITH_IMM, 5, 0x80000180, WcBatch.WITH_IMM)),
                server.poll(server.recvCq));
        assertEquals(List.of(new Completion(7, WcBatch.SUCCESS, 1, 0, 0, 0)), client.poll(client.sendCq));
        assertEquals(0, server.qp().postedReceives());
    }

    @Test
    void shouldKeepOrderWithinABatchAndBetweenBatches() throws IOException {
        connect();
        server.receives(6);
        for (int round = 0; round < 2; round++) {
            client.batch.clear();
            for (int i = 0; i < 3; i++) {
                client.append(i, WRITE_IMM, SIGNALED, round * 3 + i, server, i, 1);
            }
            client.post();
        }
        assertEquals(
                List.of(0, 1, 2, 3, 4, 5),
                server.poll(server.recvCq).stream().map(Completion::imm).toList());
        assertEquals(
                List.of(0L, 1L, 2L, 0L, 1L, 2L),
                client.poll(client.sendCq).stream().map(Completion::id).toList());
    }

    @Test
    void shouldLetAPlainWriteArriveUnseen() throws IOException {
        connect();
        fill(client, "silent");
        client.prepare(1, WRITE, SIGNALED, 0, server, 0, 6).post();
        assertEquals("silent", text(server, 0, 6));
        assertEquals(List.of(), server.poll(server.recvCq));
        assertEquals(1, client.poll(client.sendCq).size());
        assertEquals(0, provider.rnrCount());
    }

    @Test
    void shouldIgnoreAddressAndKeyOfAWriteOfLengthZero() throws IOException {
        connect();
        server.receives(1);
        client.batch.clear();
        client.batch.add(1, WRITE_IMM, SIGNALED, 0xe0000002, 0xdeadbeefL, 12345);
        client.batch.add(2, WRITE, SIGNALED, 0, 0, 0);
        client.post();
        assertEquals(
                new Completion(0, WcBatch.SUCCESS, WcBatch.OP_RECV_RDMA_WITH_IMM, 0, 0xe0000002, WcBatch.WITH_IMM),
                server.poll(server.recvCq).get(0));
        assertEquals(2, client.poll(client.sendCq).size());
    }

    @Test
    void shouldGatherTwoScatterEntries() throws IOException {
        connect();
        fill(client, "tail--start");
        client.batch.clear();
        client.batch.add(1, WRITE, SIGNALED, 0, server.memory.address(), server.mr.getRkey());
        client.batch.sge(client.memory.address() + 6, 5, client.mr.getLkey());
        client.batch.sge(client.memory.address(), 4, client.mr.getLkey());
        client.post();
        assertEquals("starttail", text(server, 0, 9));
    }

    @Test
    void shouldCarryASendIntoTheOldestReceive() throws IOException {
        connect();
        assertEquals(2, server.qp().postReceives(2, server.memory.address() + 64, 8, server.mr.getLkey()));
        fill(client, "word");
        client.prepare(1, SendBatch.SEND, SIGNALED, 0, server, 0, 4).post();
        client.prepare(2, SendBatch.SEND_WITH_IMM, SIGNALED, 99, server, 0, 3).post();
        assertEquals("word", text(server, 64, 4));
        assertEquals("wor", text(server, 72, 3));
        List<Completion> received = server.poll(server.recvCq);
        assertEquals(WcBatch.OP_RECV, received.get(0).opcode());
        assertEquals(4, received.get(0).length());
        assertEquals(0, received.get(0).flags() & WcBatch.WITH_IMM);
        assertEquals(new Completion(0, WcBatch.SUCCESS, WcBatch.OP_RECV, 3, 99, WcBatch.WITH_IMM), received.get(1));
        assertEquals(0, client.poll(client.sendCq).get(0).opcode());
    }

    @Test
    void shouldTakeReceivesWithIdsOfTheirOwn() throws IOException {
        connect();
        RecvBatch batch = new RecvBatch(3, 2);
        batch.add(41);
        batch.add(42);
        batch.sge(server.memory.address(), 8, server.mr.getLkey());
        batch.add(43);
        batch.sge(server.memory.address(), 8, server.mr.getLkey());
        batch.sge(server.memory.address(), 8, server.mr.getLkey());
        assertEquals(2, server.qp().postRecv(batch)); // one scatter entry at most
        assertEquals(Errno.EINVAL, server.qp().postError());
        client.prepare(1, WRITE_IMM, 0, 1, server, 0, 1)
                .append(2, SendBatch.SEND, 0, 0, server, 0, 8)
                .post();
        assertEquals(
                List.of(41L, 42L),
                server.poll(server.recvCq).stream().map(Completion::id).toList());
        batch.free();
    }

    @Test
    void shouldFailASendThatIsLongerThanTheReceive() throws IOException {
        connect();
        server.qp().postReceives(1, server.memory.address(), 4, server.mr.getLkey());
        client.prepare(1, SendBatch.SEND, 0, 0, server, 0, 5).post();
        assertEquals(Transfer.LOCAL_LENGTH, server.poll(server.recvCq).get(0).status());
        assertEquals(
                Transfer.REMOTE_INVALID_REQUEST,
                client.poll(client.sendCq).get(0).status());
        assertBroken(client);
        assertBroken(server);
    }

    @Test
    void shouldFailASendIntoAReceiveWithAWrongKey() throws IOException {
        connect();
        server.qp().postReceives(1, server.memory.address(), 8, server.mr.getRkey());
        client.prepare(1, SendBatch.SEND, 0, 0, server, 0, 5).post();
        assertEquals(
                Transfer.LOCAL_PROTECTION, server.poll(server.recvCq).get(0).status());
        assertEquals(
                Transfer.REMOTE_OPERATION, client.poll(client.sendCq).get(0).status());
        assertBroken(client);
        assertBroken(server);
    }

    private void assertRemoteAccessError(long address, int rkey, int length) throws IOException {
        server.receives(2);
        client.batch.clear();
        client.batch.add(5, WRITE_IMM, 0, 1, address, rkey);
        client.batch.sge(client.memory.address(), length, client.mr.getLkey());
        client.batch.add(6, WRITE_IMM, 0, 2, 0, 0);
        client.post();
        List<Completion> sent = client.poll(client.sendCq);
        assertEquals(List.of(5L, 6L), sent.stream().map(Completion::id).toList());
        assertEquals(
                List.of(WcBatch.REMOTE_ACCESS, WcBatch.FLUSHED),
                sent.stream().map(Completion::status).toList());
        assertEquals(
                List.of(WcBatch.FLUSHED, WcBatch.FLUSHED),
                server.poll(server.recvCq).stream().map(Completion::status).toList());
        assertBroken(client);
        assertBroken(server);
    }

    @Test
    void shouldRefuseAWriteWithAnUnknownKey() throws IOException {
        connect();
        assertRemoteAccessError(server.memory.address(), 0x777701, 4);
    }

    @Test
    void shouldRefuseAWriteWithALocalKey() throws IOException {
        connect();
        assertRemoteAccessError(server.memory.address(), server.mr.getLkey(), 4);
    }

    @Test
    void shouldRefuseAWriteBeforeTheRegion() throws IOException {
        connect();
        assertRemoteAccessError(server.memory.address() - 1, server.mr.getRkey(), 4);
    }

    @Test
    void shouldRefuseAWriteBeyondTheRegion() throws IOException {
        connect();
        assertRemoteAccessError(server.memory.address() + server.memory.size() - 3, server.mr.getRkey(), 4);
    }

    @Test
    void shouldRefuseAWriteToAnAddressThatWraps() throws IOException {
        connect();
        assertRemoteAccessError(-2, server.mr.getRkey(), 4);
    }

    @Test
    void shouldRefuseAWriteIntoAnotherProtectionDomainOfTheSameOwner() throws IOException {
        connect();
        Pd other = server.verbs.allocPd(server.id.getVerbs());
        Mr mr = server.verbs.registerMr(
                other, server.memory.address(), 64, IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_WRITE);
        assertRemoteAccessError(server.memory.address(), mr.getRkey(), 4);
        server.verbs.deregisterMr(mr);
        other.dealloc();
    }

    @Test
    void shouldRefuseAWriteIntoARegionWithoutRemoteWrite() throws IOException {
        connect();
        Mr mr = server.verbs.registerMr(server.pd, server.memory.address(), 64, IbvMr.IBV_ACCESS_LOCAL_WRITE);
        assertRemoteAccessError(server.memory.address(), mr.getRkey(), 4);
        server.verbs.deregisterMr(mr);
    }

    @Test
    void shouldRefuseAWriteIntoARegionThatWasDeregisteredEvenWhenItsPlaceIsTakenAgain() throws IOException {
        connect();
        Mr old = null;
        for (int i = 0; i < 200; i++) {
            int access = IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_WRITE;
            Mr mr = server.verbs.registerMr(server.pd, server.memory.address(), 64, access);
            if (i == 100) {
                old = mr;
            }
            server.verbs.deregisterMr(mr);
        }
        assertRemoteAccessError(server.memory.address(), old.getRkey(), 4);
    }

    private void assertLocalProtectionError(long address, int length, int lkey) throws IOException {
        server.receives(1);
        client.batch.clear();
        client.batch.add(5, WRITE_IMM, 0, 1, server.memory.address(), server.mr.getRkey());
        client.batch.sge(address, length, lkey);
        client.post();
        assertEquals(
                Transfer.LOCAL_PROTECTION, client.poll(client.sendCq).get(0).status());
        assertBroken(client);
        assertEquals(IbvQP.IBV_QPS_RTS, server.qp().currentState());
        assertEquals(List.of(), server.poll(server.recvCq));
    }

    @Test
    void shouldRefuseToReadWithAnUnknownLocalKey() throws IOException {
        connect();
        assertLocalProtectionError(client.memory.address(), 4, 0);
    }

    @Test
    void shouldRefuseToReadWithARemoteKey() throws IOException {
        connect();
        assertLocalProtectionError(client.memory.address(), 4, client.mr.getRkey());
    }

    @Test
    void shouldRefuseToReadBeyondTheRegion() throws IOException {
        connect();
        assertLocalProtectionError(client.memory.address() + client.memory.size() - 3, 4, client.mr.getLkey());
    }

    @Test
    void shouldRefuseToReadWithTheKeyOfAnotherDomain() throws IOException {
        connect();
        assertLocalProtectionError(server.memory.address(), 4, server.mr.getLkey());
    }

    @Test
    void shouldSendInlineFromMemoryThatIsNotRegistered() throws IOException {
        connect();
        NativeMemory free = NativeMemory.allocate(4096);
        free.buffer().put(10, "inline".getBytes(StandardCharsets.US_ASCII));
        client.batch.clear();
        client.batch.add(1, WRITE, SendBatch.INLINE, 0, server.memory.address(), server.mr.getRkey());
        client.batch.sge(free.address() + 10, 6, 0);
        client.post();
        assertEquals("inline", text(server, 0, 6));
        free.free();
    }

    @Test
    void shouldSendInlineFromTwoPlacesAndUpToTheLimit() throws IOException {
        connect();
        byte[] data = new byte[64];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) i;
        }
        client.memory.buffer().put(0, data);
        client.batch.clear();
        client.batch.add(1, WRITE, SendBatch.INLINE, 0, server.memory.address(), server.mr.getRkey());
        client.batch.sge(client.memory.address(), 20, 0);
        client.batch.sge(client.memory.address() + 20, 44, 0);
        client.post();
        byte[] received = new byte[64];
        server.memory.buffer().get(0, received);
        assertArrayEquals(data, received);
    }

    @Test
    void shouldMoveLargeMessagesInBothDirections() throws IOException {
        connect(Sizes.DEFAULT.memory(4 << 20));
        ByteBuffer out = client.memory.buffer();
        for (int i = 0; i < out.capacity(); i += 8) {
            out.putLong(i, i * 0x9e3779b97f4a7c15L);
        }
        client.prepare(1, WRITE, SIGNALED, 0, server, 0, 4 << 20).post();
        assertEquals(-1, out.mismatch(server.memory.buffer()));
        out.put(0, new byte[out.capacity()]);
        server.prepare(1, WRITE, SIGNALED, 0, client, 0, 4 << 20).post();
        assertEquals(-1, out.mismatch(server.memory.buffer()));
    }

    @Test
    void shouldWaitForAReceiveForEverWhenRnrRetryIsSeven() throws IOException {
        connect();
        fill(client, "late");
        client.prepare(1, WRITE_IMM, SIGNALED, 5, server, 0, 4)
                .append(2, WRITE_IMM, SIGNALED, 6, server, 0, 0)
                .post();
        assertEquals(1, provider.rnrCount());
        assertEquals(2, client.qp().pendingSends());
        assertEquals("\0\0\0\0", text(server, 0, 4)); // our loopback writes nothing before the receive is there
        server.receives(1);
        assertEquals("late", text(server, 0, 4));
        assertEquals(
                List.of(5),
                server.poll(server.recvCq).stream().map(Completion::imm).toList());
        assertEquals(2, provider.rnrCount());
        server.receives(1);
        assertEquals(2, provider.rnrCount());
        assertEquals(2, client.poll(client.sendCq).size());
    }

    @Test
    void shouldHoldBackEverythingBehindAMessageThatWaits() throws IOException {
        connect();
        fill(client, "x");
        client.prepare(1, WRITE_IMM, 0, 5, server, 0, 0)
                .append(2, WRITE, 0, 0, server, 50, 1)
                .post();
        assertEquals("\0", text(server, 50, 1));
        server.receives(1);
        assertEquals("x", text(server, 50, 1));
    }

    @Test
    void shouldTellTheListenerOfEachMessage() throws IOException {
        connect();
        server.receives(1);
        StringBuilder seen = new StringBuilder();
        provider.onMessage((from, to, opcode, imm, length, remoteAddress, rkey) -> seen.append(from.number())
                .append('>')
                .append(to.number())
                .append(' ')
                .append(opcode)
                .append(' ')
                .append(imm)
                .append(' ')
                .append(length)
                .append(' ')
                .append(remoteAddress == server.memory.address() + 3)
                .append(' ')
                .append(rkey == server.mr.getRkey()));
        client.prepare(1, WRITE_IMM, 0, 77, server, 3, 9).post();
        provider.onMessage(null);
        assertEquals(client.qp().number() + ">" + server.qp().number() + " 1 77 9 true true", seen.toString());
        assertTrue(provider.messageCount() >= 1);
    }
}
