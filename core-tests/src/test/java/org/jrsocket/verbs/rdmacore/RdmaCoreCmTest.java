/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.Fds;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.ConnParam;
import org.jrsocket.verbs.SendBatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The connection manager on a real device. */
@Tag("device")
@Tag("lab")
@Timeout(60)
public class RdmaCoreCmTest {

    private RdmaCoreProvider provider;
    private Cm cm;

    @BeforeEach
    void open() {
        provider = RdmaCoreLink.provider();
        cm = provider.openCm();
    }

    @Test
    void shouldCarryPrivateDataAndParametersBothWays() throws Exception {
        try (RdmaCoreLink link = new RdmaCoreLink(RdmaCoreLink.address4())) {
            assertSame(link.listener, link.request.listenId());
            assertEquals(0, link.request.getStatus());
            assertPadded("from client", 56, link.request.privateData());
            assertPadded("from server", 196, link.established.privateData());
            assertEquals(7, link.request.param().getRnr_retry_count());
            assertEquals(7, link.request.param().getRetry_count());
            assertEquals(1, link.request.param().getFlow_control());
            assertEquals(0, link.request.param().getResponder_resources());
            assertEquals(7, link.established.param().getRnr_retry_count());
        }
    }

    private static void assertPadded(String text, int size, byte[] data) {
        assertEquals(size, data.length);
        assertArrayEquals(Arrays.copyOf(text.getBytes(StandardCharsets.US_ASCII), size), data);
    }

    /** Until then neither end is told of a connection. */
    @Test
    void shouldConnectAnAnswerWhenTold() throws Exception {
        InetAddress address = RdmaCoreLink.address4();
        try (RdmaCoreLink link = new RdmaCoreLink(new InetSocketAddress(address, 0), address, null, true)) {
            link.serverId = RdmaCoreLink.await(link.events, EventType.RDMA_CM_EVENT_CONNECT_REQUEST)
                    .id();
            link.server = new RdmaCoreLink.End(link.serverId);
            assertEquals(1, link.server.qp.postReceives(1));
            assertErrno(Errno.EINVAL, () -> cm.prepare(link.clientId));
            link.serverId.accept(RdmaCoreLink.param("from server"));
            CmEvent answer = RdmaCoreLink.await(link.events, EventType.RDMA_CM_EVENT_CONNECT_RESPONSE);
            assertSame(link.clientId, answer.id());
            assertPadded("from server", 196, answer.privateData());
            cm.prepare(link.clientId);
            assertNull(cm.getCmEvent(link.events, 300));
            cm.establish(link.clientId);
            assertSame(
                    link.serverId,
                    RdmaCoreLink.await(link.events, EventType.RDMA_CM_EVENT_ESTABLISHED)
                            .id());
            link.client.sends.add(1, SendBatch.RDMA_WRITE_WITH_IMM, SendBatch.SIGNALED, 7, 0, 0);
            link.client.post();
            assertEquals(7, link.server.wcs.imm(link.server.completion()));
            assertErrno(Errno.EINVAL, () -> cm.establish(link.clientId));
        }
    }

    /** As by an attempt that was given up. */
    @Test
    void shouldTakeBackARequestWhoseAnswerIsNotConnected() throws Exception {
        InetAddress address = RdmaCoreLink.address4();
        try (RdmaCoreLink link = new RdmaCoreLink(new InetSocketAddress(address, 0), address, null, true)) {
            link.serverId = RdmaCoreLink.await(link.events, EventType.RDMA_CM_EVENT_CONNECT_REQUEST)
                    .id();
            link.server = new RdmaCoreLink.End(link.serverId);
            link.serverId.accept(RdmaCoreLink.param("from server"));
            RdmaCoreLink.await(link.events, EventType.RDMA_CM_EVENT_CONNECT_RESPONSE);
            link.clientId.destroyId();
            assertSame(
                    link.serverId,
                    RdmaCoreLink.await(link.events, EventType.RDMA_CM_EVENT_REJECTED)
                            .id());
        }
    }

    private static void assertErrno(int errno, Executable call) {
        assertEquals(errno, assertThrows(ErrnoException.class, call).errno());
    }

    @Test
    void shouldKnowAddressesAndDeviceOfBothEnds() throws Exception {
        InetAddress address = RdmaCoreLink.address4();
        try (RdmaCoreLink link = new RdmaCoreLink(address)) {
            SocketAddress bound = link.listener.getSource();
            assertEquals(address, ((InetSocketAddress) bound).getAddress());
            assertTrue(((InetSocketAddress) bound).getPort() > 0);
            assertNull(link.listener.getDestination());
            assertEquals(bound, link.clientId.getDestination());
            assertEquals(link.clientId.getSource(), link.serverId.getDestination());
            assertEquals(bound, link.serverId.getSource());
            assertSame(link.clientId.getVerbs(), link.serverId.getVerbs());
            assertSame(link.clientId.getVerbs(), link.listener.getVerbs());
            assertEquals(1, link.serverId.getPort_num());
            assertEquals(
                    provider.devices().get(0).name(), link.clientId.getVerbs().name());
            assertSame(link.client.qp, link.clientId.getQp());
        }
    }

    @Test
    void shouldConnectOverIpv6() throws Exception {
        InetAddress address = RdmaCoreLink.address6();
        try (RdmaCoreLink link = new RdmaCoreLink(address)) {
            assertEquals(address, ((InetSocketAddress) link.serverId.getDestination()).getAddress());
        }
    }

    @Test
    void shouldConnectOverLinkLocalIpv6WithItsScope() throws Exception {
        InetAddress address = RdmaCoreLink.linkLocal();
        try (RdmaCoreLink link = new RdmaCoreLink(address)) {
            assertEquals(address, ((InetSocketAddress) link.clientId.getDestination()).getAddress());
        }
    }

    @Test
    void shouldTakeIpv4ConnectionsOnTheIpv6Wildcard() throws Exception {
        InetAddress wildcard = InetAddress.getByName("::");
        RdmaCoreLink link = new RdmaCoreLink(new InetSocketAddress(wildcard, 0), RdmaCoreLink.address4());
        try (link) {
            assertNull(link.listener.getVerbs());
            assertEquals(0, link.listener.getPort_num());
            CmEvent request = RdmaCoreLink.await(link.events, EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
            link.serverId = request.id();
            assertTrue(((InetSocketAddress) request.id().getDestination()).getAddress() instanceof Inet4Address);
        }
    }

    @Test
    void shouldResolveFromAWildcardOfTheOtherFamily() throws Exception {
        CmChannel events = cm.createEventChannel();
        CmId id = cm.createId(events, RdmaCm.RDMA_PS_TCP);
        id.resolveAddr(
                new InetSocketAddress(InetAddress.getByName("::"), 0),
                new InetSocketAddress(RdmaCoreLink.address4(), 7471),
                2000);
        RdmaCoreLink.await(events, EventType.RDMA_CM_EVENT_ADDR_RESOLVED);
        id.destroyId();
        events.destroyEventChannel();
    }

    /** The kernel takes them for the wildcard. */
    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "127.1.2.3", "::1"})
    void shouldServeNoLoopbackAddress(String loopback) throws Exception {
        CmChannel events = cm.createEventChannel();
        CmId id = cm.createId(events, RdmaCm.RDMA_PS_TCP);
        InetSocketAddress there = new InetSocketAddress(loopback, 7471);
        InetSocketAddress device = new InetSocketAddress(RdmaCoreLink.address4(), 0);
        assertNoDevice(() -> id.bindAddr(there));
        assertNoDevice(() -> id.resolveAddr(null, there, 2000));
        assertNoDevice(() -> id.resolveAddr(device, there, 2000));
        assertNoDevice(() -> id.resolveAddr(there, device, 2000));
        id.destroyId();
        events.destroyEventChannel();
    }

    private static void assertNoDevice(Executable call) {
        assertEquals(Errno.ENODEV, assertThrows(ErrnoException.class, call).errno());
    }

    @Test
    void shouldReportARejectWithItsPrivateData() throws Exception {
        RdmaCoreLink link =
                new RdmaCoreLink(new InetSocketAddress(RdmaCoreLink.address4(), 0), RdmaCoreLink.address4());
        try (link) {
            link.serverId = RdmaCoreLink.await(link.events, EventType.RDMA_CM_EVENT_CONNECT_REQUEST)
                    .id();
            cm.reject(link.serverId, new byte[] {1, 2, 3});
            CmEvent rejected = RdmaCoreLink.await(link.events, EventType.RDMA_CM_EVENT_REJECTED);
            assertSame(link.clientId, rejected.id());
            assertEquals(28, rejected.getStatus()); // consumer defined
            assertArrayEquals(new byte[] {1, 2, 3}, Arrays.copyOf(rejected.privateData(), 3));
        }
    }

    @Test
    void shouldReportThatNobodyListens() throws Exception {
        CmChannel events = cm.createEventChannel();
        CmId id = cm.createId(events, RdmaCm.RDMA_PS_TCP);
        RdmaCoreLink.resolve(events, id, new InetSocketAddress(RdmaCoreLink.address4(), 9));
        RdmaCoreLink.End end = new RdmaCoreLink.End(id);
        id.connect(RdmaCoreLink.param("hello"));
        assertEquals(
                8, RdmaCoreLink.await(events, EventType.RDMA_CM_EVENT_REJECTED).getStatus()); // invalid service id
        end.close();
        id.destroyId();
        events.destroyEventChannel();
    }

    @Test
    void shouldReportAnAddressThatDoesNotResolve() throws Exception {
        byte[] neighbour = RdmaCoreLink.address4().getAddress();
        neighbour[3] = (byte) (neighbour[3] == (byte) 199 ? 198 : 199);
        CmChannel events = cm.createEventChannel();
        CmId id = cm.createId(events, RdmaCm.RDMA_PS_TCP);
        id.resolveAddr(null, new InetSocketAddress(InetAddress.getByAddress(neighbour), 1), 300);
        CmEvent error = RdmaCoreLink.await(events, EventType.RDMA_CM_EVENT_ADDR_ERROR);
        assertTrue(error.getStatus() < 0, error::toString);
        assertNull(id.getVerbs());
        id.destroyId();
        events.destroyEventChannel();
    }

    @Test
    void shouldRefuseNamesWithoutAnAddress() throws Exception {
        CmChannel events = cm.createEventChannel();
        CmId id = cm.createId(events, RdmaCm.RDMA_PS_TCP);
        InetSocketAddress name = InetSocketAddress.createUnresolved("nowhere.invalid", 1);
        assertEquals(
                "nowhere.invalid",
                assertThrows(UnknownHostException.class, () -> id.bindAddr(name))
                        .getMessage());
        assertThrows(UnknownHostException.class, () -> id.resolveAddr(null, name, 100));
        id.destroyId();
        events.destroyEventChannel();
    }

    @Test
    void shouldNameTheErrorOfABind() throws Exception {
        CmChannel events = cm.createEventChannel();
        CmId id = cm.createId(events, RdmaCm.RDMA_PS_TCP);
        ErrnoException e = assertThrows(ErrnoException.class, () -> id.bindAddr(new InetSocketAddress("192.0.2.1", 1)));
        assertTrue(e.errno() == Errno.EADDRNOTAVAIL || e.errno() == Errno.ENODEV, e::getMessage);
        assertTrue(e.getMessage().startsWith("rdma_bind_addr (/192.0.2.1:1): "), e::getMessage);
        id.destroyId();
        events.destroyEventChannel();
    }

    @Test
    void shouldFailInsteadOfCrashingBeforeTheAddressIsResolved() throws Exception {
        CmChannel events = cm.createEventChannel();
        CmId id = cm.createId(events, RdmaCm.RDMA_PS_TCP);
        assertEquals(
                Errno.EINVAL,
                assertThrows(ErrnoException.class, () -> id.resolveRoute(100)).errno());
        assertEquals(
                Errno.EINVAL,
                assertThrows(ErrnoException.class, () -> id.connect(new ConnParam()))
                        .errno());
        assertEquals(
                Errno.EINVAL,
                assertThrows(ErrnoException.class, () -> id.accept(new ConnParam()))
                        .errno());
        assertEquals(
                Errno.EINVAL, assertThrows(ErrnoException.class, id::disconnect).errno());
        id.destroyId();
        events.destroyEventChannel();
    }

    @Test
    void shouldSetOptions() throws Exception {
        CmChannel events = cm.createEventChannel();
        CmId id = cm.createId(events, RdmaCm.RDMA_PS_TCP);
        cm.setOption(id, Cm.OPTION_TOS, 0x20);
        cm.setOption(id, Cm.OPTION_REUSEADDR, 1);
        cm.setOption(id, Cm.OPTION_AFONLY, 1);
        cm.setOption(id, Cm.OPTION_ACK_TIMEOUT, 14);
        assertThrows(ErrnoException.class, () -> cm.setOption(id, 99, 1));
        id.bindAddr(new InetSocketAddress(InetAddress.getByName("::"), 0));
        id.destroyId();
        events.destroyEventChannel();
    }

    /**
     * As if the RTU were lost: the client does not take the answer, and nothing else tells the server that it is
     * connected.
     */
    @Test
    void shouldTakeAClientForConnectedWhenTold() throws Exception {
        try (RdmaCoreLink link = new RdmaCoreLink(
                new InetSocketAddress(RdmaCoreLink.address4(), 0), RdmaCoreLink.address4(), cm.createEventChannel())) {
            CmEvent request = RdmaCoreLink.await(link.events, EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
            link.serverId = request.id();
            link.server = new RdmaCoreLink.End(link.serverId);
            link.serverId.accept(RdmaCoreLink.param("from server"));
            assertNull(cm.getCmEvent(link.events, 300));
            cm.confirm(link.serverId);
            assertSame(
                    link.serverId,
                    RdmaCoreLink.await(link.events, EventType.RDMA_CM_EVENT_ESTABLISHED)
                            .id());
        }
    }

    @Test
    void shouldTellBothEndsOfADisconnect() throws Exception {
        try (RdmaCoreLink link = new RdmaCoreLink(RdmaCoreLink.address4())) {
            link.clientId.disconnect();
            assertSame(
                    link.serverId,
                    RdmaCoreLink.await(link.events, EventType.RDMA_CM_EVENT_DISCONNECTED)
                            .id());
            link.serverId.disconnect(); // which is the answer that the client's end waits for
            assertSame(
                    link.clientId,
                    RdmaCoreLink.await(link.events, EventType.RDMA_CM_EVENT_DISCONNECTED)
                            .id());
        }
    }

    @Test
    void shouldWaitForEventsNoLongerThanAsked(TestReporter reporter) throws Exception {
        CmChannel events = cm.createEventChannel();
        assertNull(cm.getCmEvent(events, 0));
        long start = System.nanoTime();
        assertNull(cm.getCmEvent(events, 50));
        long millis = (System.nanoTime() - start) / 1_000_000;
        assertTrue(millis >= 50, millis + " ms");
        reporter.publishEntry("wait", millis + " ms for an event within 50 ms");
        events.destroyEventChannel();
    }

    @Test
    void shouldDropEventsOfDestroyedIds() throws Exception {
        CmChannel events = cm.createEventChannel();
        CmId id = cm.createId(events, RdmaCm.RDMA_PS_TCP);
        id.resolveAddr(null, new InetSocketAddress(RdmaCoreLink.address4(), 1), 1000);
        assertTrue(Fds.waitReadable(events.getFd(), -1, 1_000_000_000L) > 0);
        id.destroyId();
        assertNull(cm.getCmEvent(events, 100));
        events.destroyEventChannel();
    }

    @Test
    void shouldRefuseRequestsOfADestroyedListener() throws Exception {
        RdmaCoreLink link =
                new RdmaCoreLink(new InetSocketAddress(RdmaCoreLink.address4(), 0), RdmaCoreLink.address4());
        try (link) {
            assertTrue(Fds.waitReadable(link.events.getFd(), -1, 1_000_000_000L) > 0);
            link.listener.destroyId();
            CmEvent event = RdmaCoreLink.await(link.events, EventType.RDMA_CM_EVENT_REJECTED);
            assertSame(link.clientId, event.id());
        }
    }

    @Test
    void shouldDestroyOnceAndRefuseUseAfterwards() throws Exception {
        CmChannel events = cm.createEventChannel();
        CmId id = cm.createId(events, RdmaCm.RDMA_PS_TCP);
        ErrnoException busy = assertThrows(ErrnoException.class, events::destroyEventChannel);
        assertEquals(Errno.EBUSY, busy.errno());
        id.destroyId();
        id.destroyId();
        id.destroyQP();
        id.destroyEp();
        assertFalse(id.isOpen());
        assertThrows(IllegalStateException.class, () -> id.bindAddr(new InetSocketAddress(0)));
        assertThrows(IllegalStateException.class, id::getSource);
        events.destroyEventChannel();
        events.destroyEventChannel();
        assertThrows(IllegalStateException.class, () -> cm.getCmEvent(events, 0));
    }

    @Test
    void shouldGiveBackEverything() throws Exception {
        new RdmaCoreLink(RdmaCoreLink.address4()).close(); // librdmacm opens the device for good
        long memory = NativeMemory.allocatedBytes();
        int fds = Fds.openCount();
        int links = 60;
        for (int i = 0; i < links; i++) {
            new RdmaCoreLink(RdmaCoreLink.address4()).close();
        }
        // Not exactly: other tests of this JVM leave descriptors to the collector, and threads that open some.
        assertTrue(NativeMemory.allocatedBytes() <= memory, NativeMemory.allocatedBytes() + " of " + memory);
        assertTrue(Fds.openCount() < fds + links, Fds.openCount() + " of " + fds);
    }

    /** A client's id is destroyed at any moment of its life while another thread takes the events of both sides. */
    @Test
    void shouldSurviveDestructionAtAnyMoment() throws Exception {
        CmChannel events = cm.createEventChannel();
        CmId listener = cm.createId(events, RdmaCm.RDMA_PS_TCP);
        listener.bindAddr(new InetSocketAddress(RdmaCoreLink.address4(), 0));
        listener.listen(64);
        InetSocketAddress to = (InetSocketAddress) listener.getSource();
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger accepted = new AtomicInteger();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread taker = new Thread(() -> {
            while (!stop.get()) {
                try {
                    CmEvent event = cm.getCmEvent(events, 100);
                    if (event != null) {
                        handle(event, accepted);
                    }
                } catch (IOException | IllegalStateException e) {
                    // the id went away, which is the point
                } catch (Throwable e) {
                    failure.set(e);
                    return;
                }
            }
        });
        taker.start();
        for (int i = 0; i < 200; i++) {
            CmId id = cm.createId(events, RdmaCm.RDMA_PS_TCP);
            id.resolveAddr(null, to, 1000);
            // Up to ever later moments, because an emulated machine takes long to connect.
            Thread.sleep(
                    ThreadLocalRandom.current().nextInt(1 + i % 10 * 12),
                    ThreadLocalRandom.current().nextInt(999_999));
            id.destroyQP();
            id.destroyId();
            synchronized (id) {
                if (id.attachment() != null) {
                    ((RdmaCoreLink.End) id.attachment()).close();
                }
            }
        }
        Thread.sleep(200);
        stop.set(true);
        taker.join();
        assertNull(failure.get());
        assertTrue(accepted.get() > 0, "some connections got that far");
    }

    /** The least that client and server have to do. Servers live until their client has gone. */
    private void handle(CmEvent event, AtomicInteger accepted) throws IOException {
        CmId id = event.id();
        switch (event.type()) {
            case RDMA_CM_EVENT_ADDR_RESOLVED -> id.resolveRoute(1000);
            case RDMA_CM_EVENT_ROUTE_RESOLVED -> {
                synchronized (id) { // the destroyer must find what was made
                    id.attach(new RdmaCoreLink.End(id));
                }
                id.connect(RdmaCoreLink.param("stress"));
            }
            case RDMA_CM_EVENT_CONNECT_REQUEST -> {
                RdmaCoreLink.End server = new RdmaCoreLink.End(id);
                try {
                    id.accept(RdmaCoreLink.param("stress"));
                    accepted.incrementAndGet();
                } finally {
                    server.close();
                    id.destroyId();
                }
            }
            default -> {}
        }
    }
}
