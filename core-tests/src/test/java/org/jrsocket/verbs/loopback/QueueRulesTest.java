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

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.WcBatch;
import org.jrsocket.verbs.loopback.RawEndpoint.Completion;
import org.jrsocket.verbs.loopback.RawEndpoint.Sizes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Capacities, signalling, states and flushing of queue pairs. */
class QueueRulesTest {

    private static final int WRITE = SendBatch.RDMA_WRITE;
    private static final int WRITE_IMM = SendBatch.RDMA_WRITE_WITH_IMM;
    private static final int SIGNALED = SendBatch.SIGNALED;
    private static final List<Integer> TWO_FLUSHED = List.of(WcBatch.FLUSHED, WcBatch.FLUSHED);

    private LoopbackProvider provider = new LoopbackProvider(new LoopbackConfig().retryTimeoutMillis(0));
    private RawPair pair;
    private RawEndpoint client;
    private RawEndpoint server;

    private void connect(Sizes sizes) throws IOException {
        pair = RawPair.connected(provider, sizes);
        client = pair.client;
        server = pair.server;
    }

    @AfterEach
    void tearDown() throws IOException {
        if (pair != null) {
            pair.close();
        }
        provider.assertClean();
        provider.close();
    }

    private static List<Integer> statuses(List<Completion> completions) {
        return completions.stream().map(Completion::status).toList();
    }

    private int post(RawEndpoint endpoint, int count, int flags) {
        RawEndpoint peer = endpoint == client ? server : client;
        endpoint.batch.clear();
        for (int i = 0; i < count; i++) {
            endpoint.append(i, WRITE, flags, 0, peer, 0, 0);
        }
        return endpoint.qp().postSend(endpoint.batch);
    }

    @Test
    void shouldRefuseMoreSendsThanTheQueueHoldsUntilOneIsPolled() throws IOException {
        connect(Sizes.DEFAULT.queues(4, 4));
        assertEquals(4, post(client, 6, SIGNALED));
        assertEquals(Errno.ENOMEM, client.qp().postError());
        assertEquals(0, post(client, 1, SIGNALED)); // all have completed, but nobody polled
        assertEquals(4, client.poll(client.sendCq).size());
        assertEquals(4, post(client, 4, SIGNALED));
    }

    @Test
    void shouldFreeUnsignaledSlotsOnlyWithALaterSignaledCompletion() throws IOException {
        connect(Sizes.DEFAULT.queues(4, 4));
        assertEquals(3, post(client, 3, 0));
        assertEquals(List.of(), client.poll(client.sendCq));
        assertEquals(1, post(client, 2, SIGNALED));
        assertEquals(1, client.poll(client.sendCq).size());
        assertEquals(4, post(client, 5, 0));
        assertEquals(0, post(client, 1, 0)); // nothing signaled: stuck for ever, as on a real device
    }

    @Test
    void shouldSignalEverythingWhenTheQueuePairSaysSo() throws IOException {
        connect(Sizes.DEFAULT.signalAll(true));
        post(client, 3, 0);
        assertEquals(3, client.poll(client.sendCq).size());
    }

    @Test
    void shouldRefuseMoreReceivesThanTheQueueHoldsUntilOneIsPolled() throws IOException {
        connect(Sizes.DEFAULT.queues(4, 4));
        assertEquals(4, server.qp().postReceives(6));
        assertEquals(Errno.ENOMEM, server.qp().postError());
        client.prepare(1, WRITE_IMM, 0, 1, server, 0, 0).post();
        assertEquals(0, server.qp().postReceives(1)); // consumed, but nobody polled
        assertEquals(1, server.poll(server.recvCq).size());
        assertEquals(1, server.qp().postReceives(2));
    }

    @Test
    void shouldRefuseInlinePayloadBeyondTheLimit() throws IOException {
        connect(Sizes.DEFAULT);
        assertThrows(ErrnoException.class, () -> client.prepare(1, WRITE, SendBatch.INLINE, 0, server, 0, 65)
                .post());
        assertEquals(Errno.EINVAL, client.qp().postError());
        assertEquals(IbvQP.IBV_QPS_RTS, client.qp().currentState());
    }

    @Test
    void shouldTellHowManyWerePostedBeforeABadOne() throws IOException {
        connect(Sizes.DEFAULT);
        client.prepare(1, WRITE, SIGNALED, 0, server, 0, 0)
                .append(2, 17, SIGNALED, 0, server, 0, 0)
                .append(3, WRITE, SIGNALED, 0, server, 0, 0);
        assertEquals(1, client.qp().postSend(client.batch));
        assertEquals(Errno.EINVAL, client.qp().postError());
        assertEquals(1, client.poll(client.sendCq).size());
    }

    @Test
    void shouldRefuseNegativeLengths() throws IOException {
        connect(Sizes.DEFAULT);
        client.batch.clear();
        client.batch.add(1, WRITE, 0, 0, 0, 0);
        client.batch.sge(client.memory.address(), -1, client.mr.getLkey());
        assertEquals(0, client.qp().postSend(client.batch));
        assertEquals(0, server.qp().postReceives(1, server.memory.address(), -1, 0));
        assertEquals(Errno.EINVAL, server.qp().postError());
    }

    @Test
    void shouldTakeReceivesBeforeTheConnectionButNoSends() throws IOException {
        pair = new RawPair(provider);
        client = RawEndpoint.active(provider, pair.address(), Sizes.DEFAULT);
        pair.client = client;
        assertEquals(IbvQP.IBV_QPS_INIT, client.qp().currentState());
        client.receives(3);
        client.batch.clear();
        client.batch.add(1, WRITE, 0, 0, 0, 0);
        assertEquals(0, client.qp().postSend(client.batch));
        assertEquals(Errno.EINVAL, client.qp().postError());
    }

    @Test
    void shouldFlushSendsAndReceivesWhenMovedToError() throws IOException {
        connect(Sizes.DEFAULT);
        client.receives(2);
        // wait for receives
        client.prepare(11, WRITE_IMM, 0, 1, server, 0, 0)
                .append(12, WRITE_IMM, 0, 2, server, 0, 0)
                .post();
        client.qp().toError();
        List<Completion> sent = client.poll(client.sendCq);
        assertEquals(TWO_FLUSHED, statuses(sent));
        assertEquals(List.of(11L, 12L), sent.stream().map(Completion::id).toList());
        List<Completion> received = client.poll(client.recvCq);
        assertEquals(TWO_FLUSHED, statuses(received));
        assertNotEquals(WcBatch.OP_RECV_RDMA_WITH_IMM, received.get(0).opcode()); // nonsense on purpose
        client.qp().toError();
        assertEquals(List.of(), client.poll(client.sendCq));
    }

    @Test
    void shouldFlushAtOnceWhatIsPostedToAQueuePairInError() throws IOException {
        connect(Sizes.DEFAULT);
        client.qp().toError();
        assertEquals(2, post(client, 2, 0));
        assertEquals(TWO_FLUSHED, statuses(client.poll(client.sendCq)));
        client.receives(2);
        assertEquals(TWO_FLUSHED, statuses(client.poll(client.recvCq)));
    }

    @Test
    void shouldNotFlushWhatHasCompletedAlready() throws IOException {
        connect(Sizes.DEFAULT);
        server.receives(2);
        client.prepare(1, WRITE_IMM, SIGNALED, 9, server, 0, 0).post();
        client.qp().toError();
        server.qp().toError();
        assertEquals(List.of(WcBatch.SUCCESS), statuses(client.poll(client.sendCq)));
        assertEquals(List.of(WcBatch.SUCCESS, WcBatch.FLUSHED), statuses(server.poll(server.recvCq)));
    }

    @Test
    void shouldFailSendsToAQueuePairInErrorWithRetryExceeded() throws IOException {
        connect(Sizes.DEFAULT);
        server.qp().toError();
        post(client, 2, 0);
        assertEquals(List.of(WcBatch.RETRY_EXCEEDED, WcBatch.FLUSHED), statuses(client.poll(client.sendCq, 2)));
        assertEquals(IbvQP.IBV_QPS_ERR, client.qp().currentState());
    }

    @Test
    void shouldFailSendsThatWaitForReceivesWhenThePeerIsDestroyed() throws IOException {
        connect(Sizes.DEFAULT);
        client.prepare(1, WRITE_IMM, 0, 9, server, 0, 0).post();
        server.close();
        assertEquals(List.of(WcBatch.RETRY_EXCEEDED), statuses(client.poll(client.sendCq, 1)));
    }

    @Test
    void shouldNeverGiveUpWithRetryCountSevenOnADeviceLikeSoftRoce() throws IOException {
        provider.close();
        provider = new LoopbackProvider(new LoopbackConfig().retryForever(true).retryTimeoutMillis(0));
        connect(Sizes.DEFAULT);
        server.qp().toError();
        post(client, 1, 0);
        provider.expireTimeouts();
        assertEquals(List.of(), client.poll(client.sendCq));
        client.qp().toError();
        assertEquals(List.of(WcBatch.FLUSHED), statuses(client.poll(client.sendCq)));
    }

    @Test
    void shouldFailWhenNoReceiveComesAndRnrRetryIsLimited() throws IOException {
        pair = new RawPair(provider);
        client = RawEndpoint.active(provider, pair.address(), Sizes.DEFAULT);
        pair.client = client;
        // the REQ's value goes to the passive side
        client.cm.connect(client.id, RawEndpoint.param(new byte[0]).retries(7, 3));
        server = RawEndpoint.passive(
                provider,
                pair.serverEvents,
                RawEndpoint.await(client.cm, pair.serverEvents, EventType.RDMA_CM_EVENT_CONNECT_REQUEST),
                Sizes.DEFAULT);
        pair.server = server;
        server.accept(new byte[0]);
        client.await(EventType.RDMA_CM_EVENT_ESTABLISHED);
        client.prepare(1, WRITE_IMM, 0, 9, server, 0, 0).post();
        assertEquals(List.of(), client.poll(client.sendCq)); // 7 from the REP: waits
        server.prepare(1, WRITE_IMM, 0, 9, client, 0, 0).post();
        assertEquals(List.of(Transfer.RNR_RETRY_EXCEEDED), statuses(server.poll(server.sendCq)));
        assertEquals(2, provider.rnrCount());
    }

    @Test
    void shouldTakeInlinePayloadWhenPostedAndOtherPayloadWhenItMoves() throws IOException {
        connect(Sizes.DEFAULT);
        client.memory.buffer().put(0, (byte) 'a').put(1, (byte) 'b');
        client.prepare(1, WRITE_IMM, SendBatch.INLINE, 0, server, 0, 1)
                .append(2, WRITE_IMM, 0, 0, server, 1, 2)
                .post();
        client.memory.buffer().put(0, (byte) 'x').put(1, (byte) 'y');
        server.receives(2);
        assertEquals('a', server.memory.buffer().get(0));
        assertEquals('x', server.memory.buffer().get(1));
        assertEquals('y', server.memory.buffer().get(2));
    }

    @Test
    void shouldReportACompletionQueueThatOverflows() throws IOException {
        connect(Sizes.DEFAULT.cqs(2, 2));
        post(client, 3, SIGNALED);
        assertEquals(-Errno.EIO, client.sendCq.poll(client.wc));
        assertTrue(client.sendCq.spin(1000), "the next poll fails");
        assertEquals(1, provider.violations().size());
        assertTrue(provider.violations().get(0).contains("overflows"));
        int event = provider.device().takeAsyncEvent();
        assertEquals(Device.EVENT_CQ_ERR, Device.eventType(event));
        assertTrue(client.sendCq.isSubjectOf(event));
        assertFalse(client.recvCq.isSubjectOf(event));
        assertFalse(client.qp().isSubjectOf(event));
        forgetViolations();
    }

    @Test
    void shouldNoticeTwoThreadsPostingToOneQueue() throws Exception {
        connect(Sizes.DEFAULT);
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        provider.onMessage((from, to, opcode, imm, length, remoteAddress, rkey) -> {
            inside.countDown();
            try {
                leave.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        SendBatch none = new SendBatch(1);
        Thread first = new Thread(() -> post(client, 1, SIGNALED), "first");
        Thread second = new Thread(() -> client.qp().postSend(none), "second");
        first.start();
        inside.await();
        second.start();
        long start = System.nanoTime();
        while (provider.violations().isEmpty() && System.nanoTime() - start < TimeUnit.SECONDS.toNanos(60)) {
            Thread.yield();
        }
        leave.countDown();
        first.join();
        second.join();
        post(client, 1, SIGNALED);
        none.free();
        assertEquals(1, provider.violations().size(), provider.violations().toString());
        String violation = provider.violations().get(0);
        assertTrue(violation.contains("two threads are posting to one send queue"), violation);
        assertTrue(violation.contains("first") && violation.contains("second"), violation);
        forgetViolations();
    }

    @Test
    void shouldNoticeUseAfterDestroy() throws IOException {
        connect(Sizes.DEFAULT);
        LoopbackQp qp = client.qp();
        client.cm.destroyQP(client.id);
        assertEquals(0, qp.postReceives(1));
        assertEquals(Errno.EINVAL, qp.postError());
        client.batch.clear();
        client.batch.add(1, WRITE, 0, 0, 0, 0);
        assertEquals(0, qp.postSend(client.batch));
        assertThrows(IllegalStateException.class, qp::toError);
        client.close();
        WcBatch wc = new WcBatch(1);
        assertEquals(-Errno.EINVAL, client.sendCq.poll(wc));
        assertEquals(-Errno.EINVAL, client.sendCq.arm());
        assertEquals(-1, client.channel.takeEvent());
        wc.free();
        assertEquals(6, provider.violations().size(), provider.violations().toString());
        forgetViolations();
    }

    @Test
    void shouldSetTheRnrTimerOnlyWhenConnected() throws IOException {
        connect(Sizes.DEFAULT);
        client.qp().setMinRnrTimer(1);
        assertEquals(1, client.qp().minRnrTimer());
        assertThrows(ErrnoException.class, () -> client.qp().setMinRnrTimer(32));
        client.qp().toError();
        assertThrows(ErrnoException.class, () -> client.qp().setMinRnrTimer(1));
    }

    @Test
    void shouldFreeMemoryOnlyAfterNoTransferTouchesIt() throws Exception {
        connect(Sizes.DEFAULT.memory(1 << 20));
        Thread writer = new Thread(() -> {
            try {
                while (client.qp().currentState() == IbvQP.IBV_QPS_RTS) {
                    client.prepare(1, WRITE, SIGNALED, 0, server, 0, 1 << 20).post();
                    client.poll(client.sendCq);
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        long before = provider.messageCount();
        writer.start();
        while (provider.messageCount() < before + 10) {
            Thread.onSpinWait(); // it is at work
        }
        server.verbs.deregisterMr(server.mr);
        NativeMemory gone = server.memory;
        gone.free(); // a transfer still under way would take the JVM down
        writer.join();
        server.cm.destroyQP(server.id);
        server.sendCq.destroyCQ();
        server.recvCq.destroyCQ();
        server.channel.destroy();
        server.pd.dealloc();
        server.cm.destroyCmId(server.id);
        server.batch.free();
        server.wc.free();
        pair.server = null;
    }

    private void forgetViolations() {
        provider.registry().violations().clear();
    }
}
