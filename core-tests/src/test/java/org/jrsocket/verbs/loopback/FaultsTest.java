/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.util.List;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.Fds;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.WcBatch;
import org.jrsocket.verbs.loopback.RawEndpoint.Completion;
import org.jrsocket.verbs.loopback.RawEndpoint.Sizes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What goes wrong on request. */
class FaultsTest {

    private static final int WRITE_IMM = SendBatch.RDMA_WRITE_WITH_IMM;
    private static final int SIGNALED = SendBatch.SIGNALED;

    private final LoopbackProvider provider =
            new LoopbackProvider(new LoopbackConfig().cmTimeoutMillis(60_000).retryTimeoutMillis(60_000));
    private final Faults faults = provider.faults();
    private RawPair pair;
    private RawEndpoint client;
    private RawEndpoint server;

    private void connect() throws IOException {
        pair = RawPair.connected(provider);
        client = pair.client;
        server = pair.server;
        server.receives(8);
    }

    private void requested() throws IOException {
        pair = new RawPair(provider);
        client = RawEndpoint.active(provider, pair.address(), Sizes.DEFAULT);
        pair.client = client;
        client.request(new byte[0]);
    }

    private void accepted() throws IOException {
        requested();
        server = RawEndpoint.passive(
                provider,
                pair.serverEvents,
                RawEndpoint.await(client.cm, pair.serverEvents, EventType.RDMA_CM_EVENT_CONNECT_REQUEST),
                Sizes.DEFAULT);
        pair.server = server;
        server.accept(new byte[0]);
    }

    @AfterEach
    void tearDown() throws IOException {
        pair.close();
        provider.assertClean();
        provider.close();
    }

    private void message(int id) throws IOException {
        client.prepare(id, WRITE_IMM, SIGNALED, id, server, 0, 0).post();
    }

    private static List<Integer> statuses(List<Completion> completions) {
        return completions.stream().map(Completion::status).toList();
    }

    @Test
    void shouldRejectTheNextConnectAndNoOther() throws IOException {
        faults.rejectConnects(1, 10);
        requested();
        assertEquals(10, client.await(EventType.RDMA_CM_EVENT_REJECTED).getStatus());
        client.close();
        RawEndpoint next = RawEndpoint.active(provider, pair.address(), Sizes.DEFAULT);
        next.request(new byte[0]);
        next.close();
        assertEquals(EventType.RDMA_CM_EVENT_CONNECT_REQUEST, takeAndDestroyRequest());
    }

    private EventType takeAndDestroyRequest() throws IOException {
        var event = client.cm.getCmEvent(pair.serverEvents, 0);
        client.cm.destroyCmId(event.id());
        return event.type();
    }

    @Test
    void shouldLoseARequest() throws IOException {
        faults.drop(CmMessage.REQ, 1);
        requested();
        assertNull(pair.nextServerEvent());
        provider.expireTimeouts();
        assertEquals(
                -Errno.ETIMEDOUT,
                client.await(EventType.RDMA_CM_EVENT_UNREACHABLE).getStatus());
    }

    @Test
    void shouldLoseAnAnswerForBothEnds() throws IOException {
        faults.drop(CmMessage.REP, 1);
        accepted();
        assertNull(pair.nextClientEvent());
        provider.expireTimeouts();
        client.await(EventType.RDMA_CM_EVENT_UNREACHABLE);
        assertEquals(
                -Errno.ETIMEDOUT,
                server.await(EventType.RDMA_CM_EVENT_UNREACHABLE).getStatus());
    }

    @Test
    void shouldLoseTheReadyToUseForThePassiveEndOnly() throws IOException {
        faults.drop(CmMessage.RTU, Integer.MAX_VALUE);
        accepted();
        client.await(EventType.RDMA_CM_EVENT_ESTABLISHED);
        assertNull(pair.nextServerEvent());
        server.receives(1);
        message(1); // works all the same
        assertEquals(1, server.poll(server.recvCq).size());
        provider.expireTimeouts();
        server.await(EventType.RDMA_CM_EVENT_UNREACHABLE);
        faults.drop(CmMessage.RTU, 0);
    }

    @Test
    void shouldLoseARejectAndADisconnect() throws IOException {
        faults.drop(CmMessage.REJ, 1);
        requested();
        takeAndDestroyRequest();
        assertNull(pair.nextClientEvent());
        provider.expireTimeouts();
        client.await(EventType.RDMA_CM_EVENT_UNREACHABLE);
        pair.close();
        connect();
        faults.drop(CmMessage.DREQ, 1);
        client.close();
        assertNull(pair.nextServerEvent());
    }

    @Test
    void shouldDelayMessages() throws IOException {
        faults.delay(CmMessage.REP, 60_000);
        accepted();
        assertNull(pair.nextClientEvent());
        provider.expireTimeouts();
        client.await(EventType.RDMA_CM_EVENT_ESTABLISHED);
        server.await(EventType.RDMA_CM_EVENT_ESTABLISHED);
        faults.delay(CmMessage.REP, 0);
        faults.delay(CmMessage.DREQ, 20);
        long start = System.nanoTime();
        client.close();
        server.await(EventType.RDMA_CM_EVENT_DISCONNECTED); // by the clock
        long took = System.nanoTime() - start;
        assertTrue(took >= 20_000_000, took + " ns");
    }

    @Test
    void shouldTellThePassiveEndOfADisconnectEvenWhenTheReadyToUseIsLate() throws IOException {
        faults.delay(CmMessage.RTU, 60_000);
        accepted();
        client.await(EventType.RDMA_CM_EVENT_ESTABLISHED);
        client.close();
        server.await(EventType.RDMA_CM_EVENT_DISCONNECTED);
        provider.expireTimeouts();
        assertNull(pair.nextServerEvent());
    }

    @Test
    void shouldBreakAQueuePairAfterSomeMessages() throws IOException {
        connect();
        faults.breakAfter(2);
        client.batch.clear();
        for (int i = 0; i < 4; i++) {
            client.append(i, WRITE_IMM, SIGNALED, i, server, 0, 0);
        }
        client.post();
        assertEquals(
                List.of(WcBatch.SUCCESS, WcBatch.SUCCESS, WcBatch.RETRY_EXCEEDED, WcBatch.FLUSHED),
                statuses(client.poll(client.sendCq)));
        assertEquals(2, server.poll(server.recvCq).size());
        assertEquals(IbvQP.IBV_QPS_ERR, client.qp().currentState());
        assertEquals(IbvQP.IBV_QPS_RTS, server.qp().currentState());
    }

    @Test
    void shouldBreakAQueuePairByName() throws IOException {
        connect();
        faults.breakQp(provider.qps().get(1));
        assertEquals(IbvQP.IBV_QPS_ERR, server.qp().currentState());
        assertEquals(8, server.poll(server.recvCq).size());
    }

    @Test
    void shouldHoldAcknowledgementsBack() throws IOException {
        connect();
        faults.holdAcks(true);
        message(1);
        message(2);
        assertEquals(2, server.poll(server.recvCq).size());
        assertEquals(List.of(), client.poll(client.sendCq));
        faults.releaseAcks();
        assertEquals(2, client.poll(client.sendCq).size());
        message(3);
        assertEquals(List.of(), client.poll(client.sendCq));
        faults.holdAcks(false);
        assertEquals(1, client.poll(client.sendCq).size());
        message(4);
        assertEquals(1, client.poll(client.sendCq).size());
    }

    @Test
    void shouldFlushWhatArrivedWhenItsAcknowledgementIsLost() throws IOException {
        connect();
        faults.holdAcks(true);
        message(1);
        client.qp().toError();
        faults.holdAcks(false);
        assertEquals(List.of(WcBatch.FLUSHED), statuses(client.poll(client.sendCq)));
        assertEquals(List.of(WcBatch.SUCCESS), statuses(server.poll(server.recvCq)));
    }

    @Test
    void shouldAcknowledgeWhatCameBeforeAFailure() throws IOException {
        connect();
        faults.holdAcks(true);
        message(1);
        faults.breakAfter(0);
        message(2);
        assertEquals(List.of(WcBatch.SUCCESS, WcBatch.RETRY_EXCEEDED), statuses(client.poll(client.sendCq)));
        faults.holdAcks(false);
    }

    @Test
    void shouldLetNothingComeFromAKilledPeer() throws IOException {
        connect();
        client.receives(1);
        faults.killAll(true);
        message(1);
        assertEquals(List.of(), client.poll(client.sendCq));
        server.prepare(1, WRITE_IMM, SIGNALED, 1, client, 0, 0).post(); // it thinks it lives
        assertEquals(List.of(), server.poll(server.sendCq));
        assertEquals(List.of(), client.poll(client.recvCq));
        server.qp().toError();
        assertEquals(List.of(), server.poll(server.sendCq));
        client.cm.disconnect(client.id);
        assertNull(pair.nextServerEvent());
        provider.expireTimeouts();
        assertEquals(
                -Errno.ETIMEDOUT,
                client.await(EventType.RDMA_CM_EVENT_DISCONNECTED).getStatus());
    }

    @Test
    void shouldFailSendsToAKilledPeerAfterTheRetryTimeout() throws IOException {
        connect();
        faults.kill((LoopbackId) server.id);
        message(1);
        message(2);
        provider.expireTimeouts();
        assertEquals(List.of(WcBatch.RETRY_EXCEEDED, WcBatch.FLUSHED), statuses(client.poll(client.sendCq)));
        server.close();
        assertNull(pair.nextClientEvent()); // the dead say no goodbye
    }

    @Test
    void shouldLeaveConnectsToAKilledListenerUnanswered() throws IOException {
        pair = new RawPair(provider);
        faults.killAll(true);
        client = RawEndpoint.active(provider, pair.address(), Sizes.DEFAULT);
        pair.client = client;
        client.request(new byte[0]);
        provider.expireTimeouts();
        client.await(EventType.RDMA_CM_EVENT_UNREACHABLE);
    }

    @Test
    void shouldKillTheConnectingSide() throws IOException {
        connect();
        faults.killAll(false);
        server.prepare(1, WRITE_IMM, SIGNALED, 1, client, 0, 0).post();
        client.close();
        assertNull(pair.nextServerEvent());
        provider.expireTimeouts();
        assertEquals(WcBatch.RETRY_EXCEEDED, server.poll(server.sendCq).get(0).status());
    }

    @Test
    void shouldUnplugTheDevice() throws IOException {
        connect();
        LoopbackDevice device = provider.device();
        assertEquals(0, Fds.waitReadable(device.asyncFd(), -1, 0));
        faults.removeDevice(device);
        assertEquals(1, Fds.waitReadable(device.asyncFd(), -1, 0));
        assertEquals(Device.EVENT_DEVICE_FATAL, device.takeAsyncEvent());
        assertEquals(-1, device.takeAsyncEvent());
        client.await(EventType.RDMA_CM_EVENT_DEVICE_REMOVAL);
        assertEquals(EventType.RDMA_CM_EVENT_DEVICE_REMOVAL, pair.nextServerEvent()); // the listener's
        server.await(EventType.RDMA_CM_EVENT_DEVICE_REMOVAL);
        assertEquals(8, server.poll(server.recvCq).size());
        ErrnoException e = assertThrows(ErrnoException.class, () -> client.verbs.allocPd(device));
        assertEquals(Errno.EIO, e.errno());
        assertEquals(List.of(), provider.devices());
        // ADDR_ERROR
        assertThrows(AssertionError.class, () -> RawEndpoint.active(provider, pair.address(), Sizes.DEFAULT));
    }

    @Test
    void shouldRaiseAsynchronousEvents() throws IOException {
        connect();
        faults.asyncEvent(provider.device(), Device.EVENT_PORT_ERR);
        faults.asyncEvent(provider.device(), Device.EVENT_PORT_ACTIVE);
        assertEquals(Device.EVENT_PORT_ERR, provider.device().takeAsyncEvent());
        assertEquals(1, Fds.waitReadable(provider.device().asyncFd(), -1, 0));
        assertEquals(Device.EVENT_PORT_ACTIVE, provider.device().takeAsyncEvent());
        assertEquals(0, Fds.waitReadable(provider.device().asyncFd(), -1, 0));
        assertTrue(provider.violations().isEmpty());
    }
}
