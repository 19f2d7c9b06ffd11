/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.CmId;

/** Two raw ends of one connection, and the listener behind it. */
final class RawPair implements AutoCloseable {

    final LoopbackProvider provider;
    final CmChannel serverEvents;
    final CmId listener;
    RawEndpoint client;
    RawEndpoint server;

    /** Listens on 127.0.0.1. */
    RawPair(LoopbackProvider provider) throws IOException {
        this(provider, InetAddress.getByName("127.0.0.1"), 16);
    }

    RawPair(LoopbackProvider provider, InetAddress address, int backlog) throws IOException {
        this.provider = provider;
        Cm cm = provider.openCm();
        serverEvents = cm.createEventChannel();
        listener = cm.createId(serverEvents, RdmaCm.RDMA_PS_TCP);
        cm.bindAddr(listener, new InetSocketAddress(address, 0));
        cm.listen(listener, backlog);
    }

    static RawPair connected(LoopbackProvider provider) throws IOException {
        return connected(provider, RawEndpoint.Sizes.DEFAULT);
    }

    static RawPair connected(LoopbackProvider provider, RawEndpoint.Sizes sizes) throws IOException {
        return new RawPair(provider).connect(sizes, new byte[40], new byte[40]);
    }

    InetSocketAddress address() throws IOException {
        return (InetSocketAddress) listener.getSource();
    }

    RawPair connect(RawEndpoint.Sizes sizes, byte[] request, byte[] reply) throws IOException {
        client = RawEndpoint.active(provider, address(), sizes);
        client.request(request);
        server = RawEndpoint.passive(
                provider,
                serverEvents,
                RawEndpoint.await(provider.openCm(), serverEvents, EventType.RDMA_CM_EVENT_CONNECT_REQUEST),
                sizes);
        server.accept(reply);
        client.peerData = client.await(EventType.RDMA_CM_EVENT_ESTABLISHED).privateData();
        server.await(EventType.RDMA_CM_EVENT_ESTABLISHED);
        return this;
    }

    /** What comes to the server's channel next, if anything does. */
    EventType nextServerEvent() throws IOException {
        var event = provider.openCm().getCmEvent(serverEvents, 0);
        return event == null ? null : event.type();
    }

    EventType nextClientEvent() throws IOException {
        var event = client.cm.getCmEvent(client.events, 0);
        return event == null ? null : event.type();
    }

    @Override
    public void close() throws IOException {
        if (client != null) {
            client.close();
        }
        if (server != null) {
            server.close();
        }
        Cm cm = provider.openCm();
        cm.destroyCmId(listener);
        cm.destroyEventChannel(serverEvents);
    }
}
