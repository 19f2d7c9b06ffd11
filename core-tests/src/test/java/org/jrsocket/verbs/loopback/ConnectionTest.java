/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import org.jrsocket.Waiting;
import org.jrsocket.os.Epoll;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.Fds;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.loopback.LoopbackId.State;
import org.jrsocket.verbs.loopback.RawEndpoint.Sizes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The connection manager when nothing goes wrong, or only what users do. */
class ConnectionTest {

    private static final EventType REQUEST = EventType.RDMA_CM_EVENT_CONNECT_REQUEST;
    private static final EventType ESTABLISHED = EventType.RDMA_CM_EVENT_ESTABLISHED;
    private static final EventType REJECTED = EventType.RDMA_CM_EVENT_REJECTED;
    private static final EventType DISCONNECTED = EventType.RDMA_CM_EVENT_DISCONNECTED;

    private LoopbackProvider provider = new LoopbackProvider(new LoopbackConfig().cmTimeoutMillis(60_000));
    private RawPair pair;

    @AfterEach
    void tearDown() throws IOException {
        if (pair != null) {
            pair.close();
        }
        provider.assertClean();
        provider.close();
    }

    private static byte[] bytes(int length, int first) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (first + i);
        }
        return bytes;
    }

    private static void assertErrno(int errno, org.junit.jupiter.api.function.Executable call) {
        assertEquals(errno, assertThrows(ErrnoException.class, call).errno());
    }

    private CmEvent requestFrom(RawEndpoint client) throws IOException {
        return RawEndpoint.await(client.cm, pair.serverEvents, REQUEST);
    }

    private RawEndpoint half() throws IOException {
        pair = new RawPair(provider);
        pair.client = RawEndpoint.active(provider, pair.address(), Sizes.DEFAULT);
        return pair.client;
    }

    @Test
    void shouldConnectAndCarryPrivateDataPaddedBothWays() throws IOException {
        pair = new RawPair(provider).connect(Sizes.DEFAULT, bytes(40, 1), bytes(40, 100));
        assertArrayEquals(Arrays.copyOf(bytes(40, 1), 56), pair.server.peerData);
        assertArrayEquals(Arrays.copyOf(bytes(40, 100), 196), pair.client.peerData);
        assertEquals(State.ESTABLISHED, ((LoopbackId) pair.client.id).state());
        assertEquals(State.ESTABLISHED, ((LoopbackId) pair.server.id).state());
        assertEquals(pair.client.id.getSource(), pair.server.id.getDestination());
        assertEquals(pair.client.id.getDestination(), pair.server.id.getSource());
        assertEquals(1, pair.server.id.getPort_num());
        assertSame(provider.device(), pair.server.id.getVerbs());
    }

    @Test
    void shouldRefusePrivateDataThatDoesNotFit() throws IOException {
        RawEndpoint client = half();
        assertErrno(Errno.EINVAL, () -> client.request(new byte[57]));
        client.request(bytes(56, 0));
        CmEvent request = requestFrom(client);
        assertArrayEquals(bytes(56, 0), request.privateData());
        RawEndpoint server = RawEndpoint.passive(provider, pair.serverEvents, request, Sizes.DEFAULT);
        pair.server = server;
        assertErrno(Errno.EINVAL, () -> server.cm.reject(server.id, new byte[149]));
        assertErrno(Errno.EINVAL, () -> server.accept(new byte[197]));
        server.accept(bytes(196, 0));
        assertArrayEquals(bytes(196, 0), client.await(ESTABLISHED).privateData());
    }

    @Test
    void shouldCarryPrivateDataAtItsExactLengthOnIwarp() throws IOException {
        provider.close();
        provider = new LoopbackProvider(new LoopbackConfig().iwarp(true));
        pair = new RawPair(provider).connect(Sizes.DEFAULT, bytes(200, 1), bytes(3, 7));
        assertArrayEquals(bytes(200, 1), pair.server.peerData);
        assertArrayEquals(bytes(3, 7), pair.client.peerData);
        assertTrue(pair.client.id.getVerbs() instanceof LoopbackDevice device && device.isIwarp());
    }

    @Test
    void shouldTellThePassiveSideWhatTheActiveSideAskedFor() throws IOException {
        RawEndpoint client = half();
        client.cm.connect(client.id, RawEndpoint.param(new byte[0]).depths(1, 2).retries(6, 5));
        CmEvent request = requestFrom(client);
        assertEquals(2, request.param().getResponder_resources());
        assertEquals(1, request.param().getInitiator_depth());
        assertEquals(6, request.param().getRetry_count());
        assertEquals(5, request.param().getRnr_retry_count());
        assertEquals(1, request.param().getFlow_control());
        assertSame(pair.listener, request.listenId());
        pair.server = RawEndpoint.passive(provider, pair.serverEvents, request, Sizes.DEFAULT);
        assertErrno(
                Errno.EINVAL,
                () -> pair.server.cm.accept(
                        pair.server.id, RawEndpoint.param(new byte[0]).depths(17, 0)));
    }

    @Test
    void shouldSendTheReadyToUseOnlyWhenTheAnswerIsFetched() throws IOException {
        RawEndpoint client = half();
        client.request(new byte[0]);
        pair.server = RawEndpoint.passive(provider, pair.serverEvents, requestFrom(client), Sizes.DEFAULT);
        pair.server.accept(new byte[0]);
        assertNull(pair.nextServerEvent());
        assertEquals(1, Fds.waitReadable(client.events.getFd(), -1, 0));
        assertEquals(com.ibm.disni.verbs.IbvQP.IBV_QPS_INIT, client.qp().currentState());
        client.await(ESTABLISHED);
        assertEquals(com.ibm.disni.verbs.IbvQP.IBV_QPS_RTS, client.qp().currentState());
        CmEvent established = pair.server.await(ESTABLISHED);
        assertEquals(0, established.privateData().length);
        assertEquals(0, established.getStatus());
    }

    @Test
    void shouldLeaveTheConnectionOfAnAnswerToWhoHasRequestedIt() throws IOException {
        RawEndpoint client = half();
        client.cm.request(client.id, RawEndpoint.param(new byte[0]));
        assertErrno(Errno.EINVAL, () -> client.cm.prepare(client.id));
        pair.server = RawEndpoint.passive(provider, pair.serverEvents, requestFrom(client), Sizes.DEFAULT);
        pair.server.accept(bytes(40, 100));
        CmEvent answer = client.await(EventType.RDMA_CM_EVENT_CONNECT_RESPONSE);
        assertArrayEquals(Arrays.copyOf(bytes(40, 100), 196), answer.privateData());
        assertEquals(com.ibm.disni.verbs.IbvQP.IBV_QPS_INIT, client.qp().currentState());
        client.cm.prepare(client.id);
        assertEquals(com.ibm.disni.verbs.IbvQP.IBV_QPS_RTS, client.qp().currentState());
        assertNull(pair.nextServerEvent());
        client.cm.establish(client.id);
        pair.server.await(ESTABLISHED);
        assertNull(pair.nextClientEvent());
        assertErrno(Errno.EINVAL, () -> client.cm.establish(client.id));
    }

    /** There the device makes it. */
    @Test
    void shouldConnectOnIwarpThoughTheConnectionIsLeftToWhoHasRequestedIt() throws IOException {
        provider.close();
        provider = new LoopbackProvider(new LoopbackConfig().iwarp(true));
        RawEndpoint client = half();
        client.cm.request(client.id, RawEndpoint.param(new byte[0]));
        pair.server = RawEndpoint.passive(provider, pair.serverEvents, requestFrom(client), Sizes.DEFAULT);
        pair.server.accept(new byte[0]);
        client.await(ESTABLISHED);
        pair.server.await(ESTABLISHED);
    }

    @Test
    void shouldNotConnectAnAnswerThatThePassiveSideHasTakenBack() throws IOException {
        RawEndpoint client = half();
        client.cm.request(client.id, RawEndpoint.param(new byte[0]));
        pair.server = RawEndpoint.passive(provider, pair.serverEvents, requestFrom(client), Sizes.DEFAULT);
        pair.server.accept(new byte[0]);
        client.await(EventType.RDMA_CM_EVENT_CONNECT_RESPONSE);
        pair.server.close();
        assertErrno(Errno.EINVAL, () -> client.cm.prepare(client.id));
        assertErrno(Errno.EINVAL, () -> client.cm.establish(client.id));
        assertEquals(28, client.await(REJECTED).getStatus());
    }

    @Test
    void shouldDeliverDataThatArrivesBeforeTheReadyToUseEventIsFetched() throws IOException {
        RawEndpoint client = half();
        client.request(new byte[0]);
        pair.server = RawEndpoint.passive(provider, pair.serverEvents, requestFrom(client), Sizes.DEFAULT);
        pair.server.receives(1);
        pair.server.accept(new byte[0]);
        client.await(ESTABLISHED);
        client.prepare(1, org.jrsocket.verbs.SendBatch.RDMA_WRITE_WITH_IMM, 0, 5, pair.server, 0, 0)
                .post();
        assertEquals(5, pair.server.poll(pair.server.recvCq).get(0).imm());
        pair.server.await(ESTABLISHED);
    }

    @Test
    void shouldHoldWhatThePassiveSideSendsTooEarlyUntilTheActiveSideIsReady() throws IOException {
        RawEndpoint client = half();
        client.receives(1);
        client.request(new byte[0]);
        pair.server = RawEndpoint.passive(provider, pair.serverEvents, requestFrom(client), Sizes.DEFAULT);
        pair.server.accept(new byte[0]);
        pair.server
                .prepare(1, org.jrsocket.verbs.SendBatch.RDMA_WRITE_WITH_IMM, 0, 5, client, 0, 0)
                .post();
        assertEquals(1, pair.server.qp().pendingSends());
        client.await(ESTABLISHED);
        assertEquals(5, client.poll(client.recvCq).get(0).imm());
    }

    @Test
    void shouldRejectWithReasonEightWhereNobodyListens() throws IOException {
        RawEndpoint client = half();
        client.cm.destroyCmId(pair.listener);
        client.request(new byte[0]);
        CmEvent event = client.await(REJECTED);
        assertEquals(8, event.getStatus());
        assertEquals(148, event.privateData().length);
    }

    @Test
    void shouldRejectWithReasonTwentyEightWhenTheApplicationSaysNo() throws IOException {
        RawEndpoint client = half();
        client.request(new byte[0]);
        CmEvent request = requestFrom(client);
        client.cm.reject(request.id(), bytes(3, 1));
        assertErrno(Errno.EINVAL, () -> client.cm.reject(request.id(), null));
        client.cm.destroyCmId(request.id());
        CmEvent event = client.await(REJECTED);
        assertEquals(28, event.getStatus());
        assertArrayEquals(Arrays.copyOf(bytes(3, 1), 148), event.privateData());
        assertEquals(State.FAILED, ((LoopbackId) client.id).state());
    }

    @Test
    void shouldRejectWithAnErrnoOnIwarp() throws IOException {
        provider.close();
        provider = new LoopbackProvider(new LoopbackConfig().iwarp(true));
        RawEndpoint client = half();
        client.request(new byte[0]);
        CmEvent request = requestFrom(client);
        client.cm.reject(request.id(), null);
        client.cm.destroyCmId(request.id());
        assertEquals(-Errno.ECONNREFUSED, client.await(REJECTED).getStatus());
    }

    @Test
    void shouldRejectARequestWhoseIdIsDestroyedUnanswered() throws IOException {
        RawEndpoint client = half();
        client.request(new byte[0]);
        client.cm.destroyCmId(requestFrom(client).id());
        assertEquals(28, client.await(REJECTED).getStatus());
    }

    @Test
    void shouldRejectRequestsNobodyFetchedWhenTheListenerIsDestroyed() throws IOException {
        RawEndpoint client = half();
        client.request(new byte[0]);
        client.cm.destroyCmId(pair.listener);
        assertEquals(28, client.await(REJECTED).getStatus());
        assertNull(pair.nextServerEvent());
    }

    @Test
    void shouldTellThePassiveSideThatTheActiveOneGaveUp() throws IOException {
        RawEndpoint client = half();
        client.request(new byte[0]);
        client.close();
        CmEvent request = requestFrom(client);
        CmEvent rejected = RawEndpoint.await(client.cm, pair.serverEvents, REJECTED);
        assertSame(request.id(), rejected.id());
        assertEquals(4, rejected.getStatus());
        assertErrno(Errno.EINVAL, () -> client.cm.accept(request.id(), RawEndpoint.param(new byte[0])));
        client.cm.destroyCmId(request.id());
    }

    @Test
    void shouldFailTheConnectionWhenTheActiveSideLeavesBetweenAnswerAndReadyToUse() throws IOException {
        RawEndpoint client = half();
        client.request(new byte[0]);
        pair.server = RawEndpoint.passive(provider, pair.serverEvents, requestFrom(client), Sizes.DEFAULT);
        pair.server.accept(new byte[0]);
        client.close();
        assertEquals(28, pair.server.await(REJECTED).getStatus());
    }

    @Test
    void shouldReportAnAnswerThatCannotBeUsed() throws IOException {
        RawEndpoint client = half();
        client.request(new byte[0]);
        pair.server = RawEndpoint.passive(provider, pair.serverEvents, requestFrom(client), Sizes.DEFAULT);
        pair.server.accept(new byte[0]);
        pair.server.close();
        assertEquals(
                -Errno.EINVAL,
                client.await(EventType.RDMA_CM_EVENT_CONNECT_ERROR).getStatus());
        assertEquals(28, client.await(REJECTED).getStatus());
    }

    @Test
    void shouldTellThePeerWhenAnEstablishedIdIsDestroyed() throws IOException {
        pair = RawPair.connected(provider);
        pair.client.close();
        assertEquals(0, pair.server.await(DISCONNECTED).getStatus());
        assertNull(pair.nextServerEvent());
    }

    @Test
    void shouldTellBothEndsOfADisconnectOnceThePeerAnswered() throws IOException {
        pair = RawPair.connected(provider);
        pair.client.cm.disconnect(pair.client.id);
        assertEquals(com.ibm.disni.verbs.IbvQP.IBV_QPS_ERR, pair.client.qp().currentState());
        pair.server.await(DISCONNECTED);
        assertEquals(com.ibm.disni.verbs.IbvQP.IBV_QPS_RTS, pair.server.qp().currentState()); // nobody touches it
        assertNull(pair.nextClientEvent());
        pair.server.cm.disconnect(pair.server.id);
        assertEquals(0, pair.client.await(DISCONNECTED).getStatus());
        assertNull(pair.nextServerEvent());
        assertErrno(Errno.EINVAL, () -> pair.client.cm.disconnect(pair.client.id));
    }

    @Test
    void shouldTakeTheDestructionOfThePeersIdForAnAnswer() throws IOException {
        pair = RawPair.connected(provider);
        pair.client.cm.disconnect(pair.client.id);
        pair.server.close();
        assertEquals(0, pair.client.await(DISCONNECTED).getStatus());
    }

    @Test
    void shouldEndADisconnectThatNobodyAnswersByTimeout() throws IOException {
        pair = RawPair.connected(provider);
        provider.faults().drop(CmMessage.DREQ, Integer.MAX_VALUE);
        pair.client.cm.disconnect(pair.client.id);
        for (int i = 0; i < 8; i++) { // it is repeated
            provider.expireTimeouts();
        }
        assertEquals(-Errno.ETIMEDOUT, pair.client.await(DISCONNECTED).getStatus());
    }

    @Test
    void shouldRepeatADisconnectThatIsLost() throws IOException {
        pair = RawPair.connected(provider);
        provider.faults().drop(CmMessage.DREQ, 1);
        pair.client.cm.disconnect(pair.client.id);
        provider.expireTimeouts();
        pair.server.await(DISCONNECTED);
    }

    @Test
    void shouldSurviveBothEndsDisconnectingAtOnce() throws IOException {
        pair = RawPair.connected(provider);
        provider.faults().delay(CmMessage.DREQ, 60_000);
        pair.client.cm.disconnect(pair.client.id);
        pair.server.cm.disconnect(pair.server.id);
        provider.expireTimeouts();
        pair.client.await(DISCONNECTED);
        pair.server.await(DISCONNECTED);
        assertNull(pair.nextServerEvent());
        assertNull(pair.nextClientEvent());
    }

    @Test
    void shouldAddTheEndOfTimewaitWhenAsked() throws IOException {
        provider.close();
        provider = new LoopbackProvider(new LoopbackConfig().timewaitEvents(true));
        pair = RawPair.connected(provider);
        pair.client.close();
        pair.server.await(DISCONNECTED);
        pair.server.await(EventType.RDMA_CM_EVENT_TIMEWAIT_EXIT);
    }

    @Test
    void shouldDropEventsOfADestroyedId() throws IOException {
        pair = RawPair.connected(provider);
        pair.client.close();
        pair.server.close(); // its DISCONNECTED was not fetched
        assertNull(pair.nextServerEvent());
        assertEquals(0, Fds.waitReadable(pair.serverEvents.getFd(), -1, 0));
    }

    @Test
    void shouldWakeAnEpollSetForEvents() throws IOException {
        RawEndpoint client = half();
        try (Epoll epoll = new Epoll(1)) {
            epoll.add(pair.serverEvents.getFd(), Epoll.IN, 3);
            assertEquals(0, epoll.await(0));
            client.request(new byte[0]);
            assertEquals(1, epoll.await(0));
            client.cm.destroyCmId(requestFrom(client).id());
            assertEquals(0, epoll.await(0));
        }
    }

    @Test
    void shouldWaitForAnEventAsLongAsItWasTold() throws Exception {
        RawEndpoint client = half();
        long start = System.nanoTime();
        assertNull(client.cm.getCmEvent(client.events, 30));
        assertTrue(System.nanoTime() - start >= 30_000_000);
        Thread waiting = Thread.currentThread();
        Thread thread = new Thread(() -> {
            try {
                Waiting.inside(waiting, LoopbackCm.class, "getCmEvent");
                client.request(new byte[0]);
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        thread.start();
        CmEvent event = client.cm.getCmEvent(pair.serverEvents, -1);
        thread.join();
        assertEquals(REQUEST, event.type());
        client.cm.destroyCmId(event.id());
    }

    @Test
    void shouldDropRequestsBeyondTheBacklogAndServeTheirRetries() throws IOException {
        pair = new RawPair(provider, InetAddress.getByName("127.0.0.1"), 1);
        RawEndpoint first = RawEndpoint.active(provider, pair.address(), Sizes.DEFAULT);
        RawEndpoint second = RawEndpoint.active(provider, pair.address(), Sizes.DEFAULT);
        first.request(new byte[0]);
        second.request(new byte[0]);
        CmEvent one = requestFrom(first);
        assertNull(pair.nextServerEvent());
        provider.expireTimeouts(); // the retry, now that the first was fetched
        CmEvent two = requestFrom(second);
        second.cm.destroyCmId(one.id());
        second.cm.destroyCmId(two.id());
        first.close();
        second.close();
    }

    @Test
    void shouldGiveUpWhenTheBacklogStaysFull() throws IOException {
        pair = new RawPair(provider, InetAddress.getByName("127.0.0.1"), 1);
        RawEndpoint first = RawEndpoint.active(provider, pair.address(), Sizes.DEFAULT);
        RawEndpoint second = RawEndpoint.active(provider, pair.address(), Sizes.DEFAULT);
        first.request(new byte[0]);
        second.request(new byte[0]);
        provider.expireTimeouts();
        assertEquals(
                -Errno.ETIMEDOUT,
                second.await(EventType.RDMA_CM_EVENT_UNREACHABLE).getStatus());
        first.close();
        second.close();
    }

    @Test
    void shouldRefuseCallsInTheWrongState() throws IOException {
        RawEndpoint client = half();
        Cm cm = client.cm;
        assertErrno(Errno.EINVAL, () -> cm.resolveAddr(client.id, null, pair.address(), 1));
        assertErrno(Errno.EINVAL, () -> cm.resolveRoute(client.id, 1));
        assertErrno(Errno.EINVAL, () -> cm.bindAddr(client.id, pair.address()));
        assertErrno(Errno.EINVAL, () -> cm.listen(client.id, 1));
        assertErrno(Errno.EINVAL, () -> cm.disconnect(client.id));
        assertErrno(Errno.EINVAL, () -> client.accept(new byte[0]));
        cm.destroyQP(client.id);
        assertErrno(Errno.EINVAL, () -> client.request(new byte[0])); // no queue pair
        assertErrno(Errno.EINVAL, () -> cm.createId(client.events, RdmaCm.RDMA_PS_UDP));
    }

    @Test
    void shouldSetOptionsAndRefuseThoseItDoesNotKnow() throws IOException {
        RawEndpoint client = half();
        client.cm.setOption(client.id, Cm.OPTION_TOS, 0x20);
        assertEquals(0x20, ((LoopbackId) client.id).typeOfService());
        client.cm.setOption(client.id, Cm.OPTION_ACK_TIMEOUT, 14);
        client.cm.setOption(client.id, Cm.OPTION_REUSEADDR, 1);
        assertErrno(Errno.EINVAL, () -> client.cm.setOption(client.id, Cm.OPTION_TOS, 256));
        assertErrno(Errno.EINVAL, () -> client.cm.setOption(client.id, Cm.OPTION_ACK_TIMEOUT, 32));
        assertErrno(Errno.EINVAL, () -> client.cm.setOption(client.id, Cm.OPTION_AFONLY, 1)); // too late
        assertErrno(Errno.EINVAL, () -> client.cm.setOption(client.id, 99, 0));
    }

    @Test
    void shouldNoticeUseOfADestroyedId() throws IOException {
        RawEndpoint client = half();
        CmChannel events = client.cm.createEventChannel();
        CmId id = client.cm.createId(events, RdmaCm.RDMA_PS_TCP);
        client.cm.destroyCmId(id);
        client.cm.destroyCmId(id); // harmless
        assertThrows(IllegalStateException.class, () -> client.cm.bindAddr(id, new InetSocketAddress("127.0.0.1", 0)));
        assertEquals(1, provider.violations().size());
        client.cm.destroyEventChannel(events);
        assertThrows(IllegalStateException.class, () -> client.cm.getCmEvent(events, 0));
        provider.registry().violations().clear();
    }
}
