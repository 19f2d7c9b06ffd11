/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.Collections;
import java.util.function.Predicate;
import org.jrsocket.os.Errno;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.CompChannel;
import org.jrsocket.verbs.ConnParam;
import org.jrsocket.verbs.Cq;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.DeviceInfo;
import org.jrsocket.verbs.Mr;
import org.jrsocket.verbs.Pd;
import org.jrsocket.verbs.Qp;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.Verbs;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.jrsocket.verbs.WcBatch;

/** A pair of connected queue pairs on the first device of the machine, and the parts to make one. */
public final class RdmaCoreLink implements AutoCloseable {

    static final int WAIT_MILLIS = 10_000;
    static final int RING = 64 * 1024;
    static final int DEPTH = 64;

    final CmChannel events;
    private final CmChannel clientEvents;
    final CmId listener;
    final CmId clientId;
    CmId serverId;
    End client;
    End server;
    CmEvent request;
    CmEvent established;

    /** The provider of a machine with a device, installed; where there is none the test is skipped with the reason. */
    static RdmaCoreProvider provider() {
        try {
            RdmaCoreProvider provider = RdmaCoreProvider.open();
            provider.install();
            return provider;
        } catch (VerbsUnavailableException e) {
            assumeTrue(false, "needs an RDMA device, try scripts/roce-lab: " + e.getMessage());
            throw new AssertionError(e);
        }
    }

    static InetAddress address4() throws IOException {
        return address(a -> a instanceof Inet4Address);
    }

    static InetAddress address6() throws IOException {
        return address(a -> a instanceof Inet6Address && !a.isLinkLocalAddress());
    }

    /** An address that the kernel routes to the device, with its scope. */
    static InetAddress linkLocal() throws IOException {
        InetAddress plain = address(InetAddress::isLinkLocalAddress);
        for (NetworkInterface nif : Collections.list(NetworkInterface.getNetworkInterfaces())) {
            for (InetAddress own : Collections.list(nif.getInetAddresses())) {
                if (java.util.Arrays.equals(own.getAddress(), plain.getAddress())) {
                    return own;
                }
            }
        }
        assumeTrue(false, "no interface has the device's " + plain);
        return plain;
    }

    private static InetAddress address(Predicate<InetAddress> wanted) throws IOException {
        InetAddress found = provider().devices().stream()
                .flatMap(d -> d.ports().stream())
                .filter(DeviceInfo.Port::active)
                .flatMap(p -> p.gids().stream())
                .map(DeviceInfo.Gid::address)
                .filter(wanted)
                .findFirst()
                .orElse(null);
        assumeTrue(found != null, "no active port has such an address");
        return found;
    }

    /** One side's objects. */
    static final class End implements AutoCloseable {

        static final int COOKIE = 4711;
        final CmId id;
        final Pd pd;
        final CompChannel channel;
        final Cq cq;
        final Qp qp;
        final NativeMemory memory;
        final Mr mr;
        final WcBatch wcs = new WcBatch(8);
        final SendBatch sends = new SendBatch(DEPTH * 2);
        final IbvQPInitAttr attr = new IbvQPInitAttr();
        private int next;
        private int count;

        End(CmId id) throws IOException {
            RdmaCoreProvider provider = RdmaCoreProvider.open();
            Verbs verbs = provider.openVerbs();
            Device device = id.getVerbs();
            this.id = id;
            pd = verbs.allocPd(device);
            channel = verbs.createCompChannel(device);
            cq = verbs.createCq(device, channel, 2 * DEPTH, COOKIE);
            attr.setQp_type(IbvQP.IBV_QPT_RC);
            attr.setSend_cq(cq);
            attr.setRecv_cq(cq);
            attr.cap().setMax_send_wr(DEPTH);
            attr.cap().setMax_recv_wr(DEPTH);
            attr.cap().setMax_send_sge(2);
            attr.cap().setMax_recv_sge(1);
            attr.cap().setMax_inline_data(64);
            qp = (Qp) id.createQP(pd, attr);
            memory = NativeMemory.allocate(RING);
            mr = verbs.registerMr(
                    pd, memory.address(), RING, IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_WRITE);
        }

        /** The index in {@link #wcs} of the next completion. */
        int completion() {
            if (++next >= count) {
                next = 0;
                count = cq.spin(WAIT_MILLIS * 1_000_000L) ? cq.poll(wcs) : 0;
                assertEquals(true, count > 0, "completions in time: " + count);
            }
            return next;
        }

        void post() {
            assertEquals(sends.size(), qp.postSend(sends), () -> "posted, " + Errno.describe(qp.postError()));
            sends.clear();
        }

        @Override
        public void close() throws IOException {
            id.destroyQP();
            cq.destroyCQ();
            channel.destroy();
            RdmaCoreProvider.open().openVerbs().deregisterMr(mr);
            memory.free();
            pd.dealloc();
            wcs.free();
            sends.free();
        }
    }

    /** Connected; {@code address} is of the device. */
    RdmaCoreLink(InetAddress address) throws IOException {
        this(new InetSocketAddress(address, 0), address);
        request = await(events, EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
        serverId = request.id();
        server = new End(serverId);
        assertEquals(DEPTH / 2, server.qp.postReceives(DEPTH / 2));
        serverId.accept(param("from server"));
        // One channel for both, so either side may be told first.
        CmEvent first = await(events, EventType.RDMA_CM_EVENT_ESTABLISHED);
        CmEvent second = await(events, EventType.RDMA_CM_EVENT_ESTABLISHED);
        established = first.id() == clientId ? first : second;
        assertEquals(clientId, established.id());
    }

    /** Up to the moment when the client's request is on its way. */
    RdmaCoreLink(InetSocketAddress bind, InetAddress to) throws IOException {
        this(bind, to, null);
    }

    /** The same with another channel for the client, which is not read again; null for one channel. */
    RdmaCoreLink(InetSocketAddress bind, InetAddress to, CmChannel ofClient) throws IOException {
        this(bind, to, ofClient, false);
    }

    /** @param patient whether to leave the connection of an answer to the test */
    RdmaCoreLink(InetSocketAddress bind, InetAddress to, CmChannel ofClient, boolean patient) throws IOException {
        Cm cm = provider().openCm();
        events = cm.createEventChannel();
        clientEvents = ofClient == null ? events : ofClient;
        listener = cm.createId(events, RdmaCm.RDMA_PS_TCP);
        listener.bindAddr(bind);
        listener.listen(8);
        clientId = cm.createId(clientEvents, RdmaCm.RDMA_PS_TCP);
        resolve(
                clientEvents,
                clientId,
                new InetSocketAddress(to, ((InetSocketAddress) listener.getSource()).getPort()));
        client = new End(clientId);
        assertEquals(DEPTH / 2, client.qp.postReceives(DEPTH / 2));
        if (patient) {
            cm.request(clientId, param("from client"));
        } else {
            clientId.connect(param("from client"));
        }
    }

    static void resolve(CmChannel events, CmId id, InetSocketAddress destination) throws IOException {
        id.resolveAddr(null, destination, 2000);
        await(events, EventType.RDMA_CM_EVENT_ADDR_RESOLVED);
        id.resolveRoute(2000);
        await(events, EventType.RDMA_CM_EVENT_ROUTE_RESOLVED);
    }

    static ConnParam param(String data) {
        return new ConnParam().flowControl(true).retries(7, 7).privateData(data.getBytes(UTF_8));
    }

    static CmEvent await(CmChannel events, EventType type) throws IOException {
        CmEvent event = RdmaCoreProvider.open().openCm().getCmEvent(events, WAIT_MILLIS);
        assertNotNull(event, () -> "no " + type);
        assertEquals(type, event.type(), event::toString);
        return event;
    }

    @Override
    public void close() throws IOException {
        client.close();
        clientId.destroyId();
        if (server != null) {
            server.close();
        }
        if (serverId != null) {
            serverId.destroyId();
        }
        listener.destroyId();
        events.destroyEventChannel();
        if (clientEvents != events) {
            clientEvents.destroyEventChannel();
        }
    }
}
