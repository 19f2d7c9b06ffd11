/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.CompChannel;
import org.jrsocket.verbs.ConnParam;
import org.jrsocket.verbs.Cq;
import org.jrsocket.verbs.Pd;
import org.jrsocket.verbs.Verbs;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.wire.ConnData;

/**
 * Plain verbs clients that ask for a connection as an rsocket does and never say another word: they do not fetch the
 * answer, without which librdmacm does not confirm it. Each keeps its id as long as it may. One thread.
 */
final class MuteClients implements AutoCloseable {

    private static final int WAIT_MILLIS = 10_000;

    private record Client(CmChannel events, CmId id) {}

    private final Cm cm;
    private final Verbs verbs;
    private final int most;
    private final Deque<Client> clients = new ArrayDeque<>();
    private Pd pd;
    private CompChannel channel;
    private Cq cq;

    /** @param most how many there are at a time; the oldest goes for one more */
    MuteClients(VerbsProvider provider, int most) throws IOException {
        this.cm = provider.openCm();
        this.verbs = provider.openVerbs();
        this.most = most;
    }

    void request(InetSocketAddress server) throws IOException {
        // of its own: whoever takes an event of the channel takes the answer too
        CmChannel events = cm.createEventChannel();
        CmId id = cm.createId(events, RdmaCm.RDMA_PS_TCP);
        clients.add(new Client(events, id));
        cm.resolveAddr(id, null, server, WAIT_MILLIS);
        await(events, EventType.RDMA_CM_EVENT_ADDR_RESOLVED);
        cm.resolveRoute(id, WAIT_MILLIS);
        await(events, EventType.RDMA_CM_EVENT_ROUTE_RESOLVED);
        if (pd == null) {
            pd = verbs.allocPd(id.getVerbs());
            channel = verbs.createCompChannel(id.getVerbs());
            cq = verbs.createCq(id.getVerbs(), channel, 16, 0);
        }
        IbvQPInitAttr attr = new IbvQPInitAttr();
        attr.setQp_type(IbvQP.IBV_QPT_RC);
        attr.setSend_cq(cq);
        attr.setRecv_cq(cq);
        attr.cap().setMax_send_wr(1);
        attr.cap().setMax_recv_wr(1);
        attr.cap().setMax_send_sge(1);
        attr.cap().setMax_recv_sge(1);
        cm.createQP(id, pd, attr);
        byte[] data = ConnData.local(16, 4096, 1, 2, 8192, 2, 4096)
                .withFeatures(ConnData.FEATURE_RESET)
                .encode();
        cm.connect(
                id, new ConnParam().depths(0, 0).flowControl(true).retries(6, 7).privateData(data));
        if (clients.size() > most) {
            destroy(clients.poll());
        }
    }

    private void await(CmChannel events, EventType type) throws IOException {
        CmEvent event = cm.getCmEvent(events, WAIT_MILLIS);
        if (event == null || event.type() != type) {
            throw new IOException("awaited " + type + ", came " + event);
        }
    }

    private void destroy(Client client) throws IOException {
        cm.destroyCmId(client.id);
        cm.destroyEventChannel(client.events);
    }

    @Override
    public void close() throws IOException {
        for (Client client : clients) {
            destroy(client);
        }
        if (pd != null) {
            cq.destroyCQ();
            channel.destroy();
            pd.dealloc();
        }
    }
}
