/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.loopback.RawEndpoint.Sizes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Binding, listening and resolving: who gets which address, and who hears a request. */
class AddressTest {

    private final LoopbackProvider provider = new LoopbackProvider(new LoopbackConfig().cmTimeoutMillis(60_000));
    private final Cm cm = provider.openCm();
    private final List<CmId> ids = new ArrayList<>();
    private CmChannel events;
    private InetAddress lan;
    private InetAddress v4;
    private InetAddress v6;

    @BeforeEach
    void setUp() throws IOException {
        events = cm.createEventChannel();
        lan = InetAddress.getByName("10.1.2.3");
        v4 = InetAddress.getByName("127.0.0.1");
        v6 = InetAddress.getByName("::1");
    }

    @AfterEach
    void tearDown() throws IOException {
        for (CmId id : ids) {
            cm.destroyCmId(id);
        }
        cm.destroyEventChannel(events);
        provider.assertClean();
        provider.close();
    }

    private CmId id() throws IOException {
        CmId id = cm.createId(events, RdmaCm.RDMA_PS_TCP);
        ids.add(id);
        return id;
    }

    private CmId bound(String host, int port) throws IOException {
        CmId id = id();
        cm.bindAddr(id, new InetSocketAddress(host, port));
        return id;
    }

    private CmId listening(String host, int port) throws IOException {
        CmId id = bound(host, port);
        cm.listen(id, 8);
        return id;
    }

    private static int port(CmId id) throws IOException {
        return ((InetSocketAddress) id.getSource()).getPort();
    }

    private static void assertErrno(int errno, org.junit.jupiter.api.function.Executable call) {
        assertEquals(errno, assertThrows(ErrnoException.class, call).errno());
    }

    /** Connects; the listener that heard of it, or null if the client was refused for want of one. */
    private CmId whoHears(InetAddress host, int port) throws IOException {
        RawEndpoint client = RawEndpoint.active(provider, new InetSocketAddress(host, port), Sizes.DEFAULT);
        client.request(new byte[0]);
        CmEvent request = cm.getCmEvent(events, 0);
        if (request == null) {
            assertEquals(8, client.await(EventType.RDMA_CM_EVENT_REJECTED).getStatus());
        } else {
            assertEquals(new InetSocketAddress(host, port), request.id().getSource());
            assertEquals(client.id.getSource(), request.id().getDestination());
            cm.destroyCmId(request.id());
        }
        client.close();
        return request == null ? null : request.listenId();
    }

    private CmEvent resolve(InetAddress source, InetAddress host) throws IOException {
        cm.resolveAddr(
                id(),
                source == null ? null : new InetSocketAddress(source, 0),
                new InetSocketAddress(host, 7471),
                60_000);
        return cm.getCmEvent(events, 0);
    }

    @Test
    void shouldPickAFreePortForPortZero() throws IOException {
        CmId first = bound("127.0.0.1", 0);
        CmId second = bound("127.0.0.1", 0);
        assertTrue(port(first) > 1024 && port(second) > 1024);
        assertNotEquals(port(first), port(second));
    }

    @Test
    void shouldRefuseAnAddressInUse() throws IOException {
        CmId first = listening("127.0.0.1", 0);
        assertErrno(Errno.EADDRINUSE, () -> bound("127.0.0.1", port(first)));
        bound("::1", port(first)); // another address
    }

    @Test
    void shouldAnswerAsTheKernelWhenAWildcardMeetsAnotherOwner() throws IOException {
        CmId first = listening("127.0.0.1", 0);
        assertErrno(Errno.EADDRNOTAVAIL, () -> bound("0.0.0.0", port(first)));
        CmId wildcard = listening("::", 0);
        assertErrno(Errno.EADDRNOTAVAIL, () -> bound("127.0.0.1", port(wildcard)));
    }

    @Test
    void shouldFreeThePortWithItsId() throws IOException {
        CmId first = listening("127.0.0.1", 0);
        int port = port(first);
        cm.destroyCmId(first);
        assertEquals(port, port(bound("127.0.0.1", port)));
    }

    @Test
    void shouldShareAnAddressForBindingButNotForListening() throws IOException {
        CmId first = id();
        CmId second = id();
        cm.setOption(first, Cm.OPTION_REUSEADDR, 1);
        cm.setOption(second, Cm.OPTION_REUSEADDR, 1);
        cm.bindAddr(first, new InetSocketAddress("127.0.0.1", 0));
        cm.bindAddr(second, first.getSource());
        assertErrno(Errno.EADDRINUSE, () -> cm.listen(second, 1));
        cm.destroyCmId(first);
        cm.listen(second, 1);
        CmId third = id();
        cm.setOption(third, Cm.OPTION_REUSEADDR, 1);
        assertErrno(Errno.EADDRINUSE, () -> cm.bindAddr(third, second.getSource())); // who listens shares no more
    }

    @Test
    void shouldLetBothFamiliesHaveAPortIfBothWantOnlyTheirs() throws IOException {
        CmId six = id();
        cm.setOption(six, Cm.OPTION_AFONLY, 1);
        cm.bindAddr(six, new InetSocketAddress("::", 0));
        CmId four = bound("0.0.0.0", port(six)); // IPv4 is so by itself
        cm.listen(six, 1);
        cm.listen(four, 1);
        assertSame(six, whoHears(v6, port(six)));
        assertSame(four, whoHears(v4, port(six)));
    }

    @Test
    void shouldRefuseToBindWhatNoDeviceServes() {
        assertErrno(Errno.ENODEV, () -> bound("10.1.2.3", 0));
    }

    @Test
    void shouldLetAWildcardListenerHearEverythingOfItsFamily() throws IOException {
        provider.serve(lan, provider.device());
        CmId listener = listening("0.0.0.0", 0);
        assertNull(listener.getVerbs());
        assertSame(listener, whoHears(v4, port(listener)));
        assertSame(listener, whoHears(lan, port(listener)));
        assertNull(whoHears(v6, port(listener)));
        assertNull(whoHears(v4, port(listener) == 9 ? 10 : 9));
    }

    @Test
    void shouldLetAnIpv6WildcardListenerHearIpv4UnlessToldNotTo() throws IOException {
        CmId listener = listening("::", 0);
        assertSame(listener, whoHears(v6, port(listener)));
        assertSame(listener, whoHears(v4, port(listener)));
        CmId only = id();
        cm.setOption(only, Cm.OPTION_AFONLY, 1);
        cm.bindAddr(only, new InetSocketAddress("::", 0));
        cm.listen(only, 1);
        assertSame(only, whoHears(v6, port(only)));
        assertNull(whoHears(v4, port(only)));
    }

    @Test
    void shouldNotLetAListenerHearOtherAddresses() throws IOException {
        provider.serve(lan, provider.device());
        CmId listener = listening("10.1.2.3", 0);
        assertSame(listener, whoHears(lan, port(listener)));
        assertNull(whoHears(v4, port(listener)));
    }

    @Test
    void shouldTakeAnUnboundListenerForAWildcardWithAPortOfItsOwn() throws IOException {
        CmId listener = id();
        cm.listen(listener, 0);
        assertSame(listener, whoHears(v4, port(listener)));
    }

    @Test
    void shouldResolveToTheServingDeviceAndItsAddress() throws IOException {
        LoopbackDevice other = provider.addDevice(new LoopbackConfig().name("lo1"), lan);
        CmEvent event = resolve(null, lan);
        assertEquals(EventType.RDMA_CM_EVENT_ADDR_RESOLVED, event.type());
        assertSame(other, event.id().getVerbs());
        assertEquals(lan, ((InetSocketAddress) event.id().getSource()).getAddress());
        assertTrue(port(event.id()) > 0);
        assertEquals(
                List.of("lo0", "lo1"),
                provider.devices().stream().map(info -> info.name()).toList());
        assertEquals(lan, provider.devices().get(1).ports().get(0).gids().get(0).address());
    }

    @Test
    void shouldResolveTheWildcardToThisHost() throws IOException {
        CmEvent event = resolve(null, InetAddress.getByName("0.0.0.0"));
        assertEquals(v4, ((InetSocketAddress) event.id().getDestination()).getAddress());
        event = resolve(null, InetAddress.getByName("::"));
        assertEquals(v6, ((InetSocketAddress) event.id().getDestination()).getAddress());
    }

    @Test
    void shouldUseTheSourceItWasGiven() throws IOException {
        provider.serve(lan, provider.device());
        assertEquals(lan, ((InetSocketAddress) resolve(lan, v4).id().getSource()).getAddress());
        CmId id = bound("0.0.0.0", 0);
        int port = port(id);
        cm.resolveAddr(id, null, new InetSocketAddress(v4, 1), 1);
        assertEquals(
                EventType.RDMA_CM_EVENT_ADDR_RESOLVED, cm.getCmEvent(events, 0).type());
        assertEquals(new InetSocketAddress(v4, port), id.getSource());
        assertErrno(Errno.EINVAL, () -> resolve(v6, v4));
        assertErrno(Errno.ENODEV, () -> resolve(InetAddress.getByName("10.9.9.9"), v4));
    }

    @Test
    void shouldFailToResolveWhatNobodyServes() throws IOException {
        CmEvent event = resolve(null, lan);
        assertEquals(EventType.RDMA_CM_EVENT_ADDR_ERROR, event.type());
        assertEquals(-Errno.ENODEV, event.getStatus());
        assertNull(event.id().getVerbs());
        cm.resolveAddr(event.id(), null, new InetSocketAddress(v4, 1), 1); // may try again
        assertEquals(
                EventType.RDMA_CM_EVENT_ADDR_RESOLVED, cm.getCmEvent(events, 0).type());
    }

    @Test
    void shouldTimeOutOnAnAddressThatDoesNotAnswer() throws IOException {
        provider.place(lan, Reachability.UNRESOLVED);
        assertNull(resolve(null, lan));
        provider.expireTimeouts();
        CmEvent event = cm.getCmEvent(events, 0);
        assertEquals(EventType.RDMA_CM_EVENT_ADDR_ERROR, event.type());
        assertEquals(-Errno.ETIMEDOUT, event.getStatus());
    }

    @Test
    void shouldFailTheRouteWhenThereIsNone() throws IOException {
        provider.place(lan, Reachability.NO_ROUTE);
        CmEvent event = resolve(null, lan);
        assertEquals(EventType.RDMA_CM_EVENT_ADDR_RESOLVED, event.type());
        assertEquals(v4, ((InetSocketAddress) event.id().getSource()).getAddress());
        cm.resolveRoute(event.id(), 1000);
        CmEvent failed = cm.getCmEvent(events, 0);
        assertEquals(EventType.RDMA_CM_EVENT_ROUTE_ERROR, failed.type());
        assertEquals(-Errno.ETIMEDOUT, failed.getStatus());
    }

    @Test
    void shouldBeUnreachableWhereNoRdmaRuns() throws IOException {
        provider.place(lan, Reachability.SILENT);
        RawEndpoint client = RawEndpoint.active(provider, new InetSocketAddress(lan, 1), Sizes.DEFAULT);
        client.request(new byte[0]);
        assertNull(cm.getCmEvent(client.events, 0));
        provider.expireTimeouts();
        assertEquals(
                -Errno.ETIMEDOUT,
                client.await(EventType.RDMA_CM_EVENT_UNREACHABLE).getStatus());
        client.close();
    }
}
