/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.disni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostSend;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedList;
import java.util.List;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A program that knows DiSNI's classes only; subclasses install a provider. */
@Timeout(60)
public abstract class DisniProgram {

    private InetSocketAddress any;
    private int receiveEntries;

    /** @param scatterEntries that the provider takes in a receive */
    public void use(InetAddress address, int scatterEntries) {
        any = new InetSocketAddress(address, 0);
        receiveEntries = scatterEntries;
    }

    /** DiSNI's own, if the provider takes it. */
    RdmaConnParam connParam() {
        return new RdmaConnParam();
    }

    /** One side: everything through DiSNI's object calls. */
    private final class Side {

        final IbvPd pd;
        final IbvCompChannel channel;
        final IbvCQ cq;
        final IbvQP qp;
        final ByteBuffer buffer = ByteBuffer.allocateDirect(4096).order(ByteOrder.nativeOrder());
        final IbvMr mr;
        final IbvWC[] wcs = {new IbvWC(), new IbvWC(), new IbvWC()};
        final SVCPollCq poll;

        Side(RdmaCmId id) throws IOException {
            IbvContext context = id.getVerbs();
            pd = context.allocPd();
            channel = context.createCompChannel();
            cq = context.createCQ(channel, 64, 0);
            cq.reqNotification(false).execute().free();
            IbvQPInitAttr attr = new IbvQPInitAttr();
            attr.cap().setMax_recv_sge(receiveEntries);
            attr.cap().setMax_recv_wr(40);
            attr.cap().setMax_send_sge(1);
            attr.cap().setMax_send_wr(50);
            attr.setQp_type(IbvQP.IBV_QPT_RC);
            attr.setRecv_cq(cq);
            attr.setSend_cq(cq);
            qp = id.createQP(pd, attr);
            int access = IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_WRITE | IbvMr.IBV_ACCESS_REMOTE_READ;
            mr = pd.regMr(buffer, access).execute().free().getMr();
            poll = cq.poll(wcs, 2);
        }

        @SuppressWarnings({"JdkObsolete", "NonApiType"}) // what DiSNI takes
        LinkedList<IbvSge> sges(int offset, int length) {
            IbvSge sge = new IbvSge();
            sge.setAddr(mr.getAddr() + offset);
            sge.setLength(length);
            sge.setLkey(mr.getLkey());
            LinkedList<IbvSge> list = new LinkedList<>();
            list.add(sge);
            return list;
        }

        IbvSendWR send(long id, int opcode, int offset, int length) {
            IbvSendWR wr = new IbvSendWR();
            wr.setWr_id(id);
            wr.setOpcode(opcode);
            wr.setSend_flags(IbvSendWR.IBV_SEND_SIGNALED);
            wr.setSg_list(sges(offset, length));
            return wr;
        }

        void receive(long id, int offset, int length) throws IOException {
            IbvRecvWR wr = new IbvRecvWR();
            wr.setWr_id(id);
            LinkedList<IbvSge> entries = sges(offset, receiveEntries == 1 ? length : 4);
            if (receiveEntries > 1) {
                entries.addAll(sges(offset + 4, length - 4));
            }
            wr.setSg_list(entries);
            assertEquals(
                    id, qp.postRecv(List.of(wr), null).execute().getWrMod(0).getWr_id());
        }

        IbvWC completion() throws IOException {
            while (poll.execute().getPolls() == 0) {
                assertTrue(channel.getCqEvent(cq, 5000), "an event in time");
                cq.ackEvents(1);
                cq.reqNotification(false).execute().free();
            }
            assertEquals(1, poll.getPolls());
            assertEquals(IbvWC.IbvWcStatus.IBV_WC_SUCCESS.ordinal(), wcs[0].getStatus());
            return wcs[0];
        }

        void close(RdmaCmId id) throws Exception {
            id.destroyQP();
            cq.destroyCQ();
            channel.destroyCompChannel();
            mr.deregMr().execute().free();
            pd.deallocPd();
            id.destroyId();
        }
    }

    private RdmaEventChannel events;
    private RdmaCmId listener;
    private RdmaCmId clientId;
    private RdmaCmId serverId;
    private Side client;
    private Side server;

    private RdmaCmEvent await(EventType type) throws IOException {
        RdmaCmEvent event = events.getCmEvent(5000);
        assertEquals(type.ordinal(), event.getEvent());
        event.ackEvent();
        return event;
    }

    private void connect() throws IOException {
        events = RdmaEventChannel.createEventChannel();
        listener = events.createId(RdmaCm.RDMA_PS_TCP);
        listener.bindAddr(any);
        listener.listen(10);
        clientId = events.createId(RdmaCm.RDMA_PS_TCP);
        clientId.resolveAddr(null, listener.getSource(), 2000);
        await(EventType.RDMA_CM_EVENT_ADDR_RESOLVED);
        clientId.resolveRoute(2000);
        await(EventType.RDMA_CM_EVENT_ROUTE_RESOLVED);
        client = new Side(clientId);
        RdmaConnParam param = connParam();
        param.setRetry_count((byte) 7);
        param.setRnr_retry_count((byte) 7);
        clientId.connect(param);
        serverId = await(EventType.RDMA_CM_EVENT_CONNECT_REQUEST).getConnIdPriv();
        server = new Side(serverId);
        server.receive(2001, 0, 64);
        serverId.accept(param);
        await(EventType.RDMA_CM_EVENT_ESTABLISHED);
        await(EventType.RDMA_CM_EVENT_ESTABLISHED);
    }

    private void closeAll() throws Exception {
        client.close(clientId);
        server.close(serverId);
        listener.destroyId();
        events.destroyEventChannel();
    }

    @Test
    void shouldExchangeMessagesAndReuseACall() throws Exception {
        connect();
        client.buffer.putLong(0, 42).putLong(8, 43);
        IbvSendWR wr = client.send(2000, IbvSendWR.IBV_WR_SEND_WITH_IMM, 0, 8);
        wr.setImm_data(77);
        SVCPostSend call = client.qp.postSend(List.of(wr), null);
        call.execute();
        assertEquals(2001, server.completion().getWr_id());
        assertEquals(8, server.wcs[0].getByte_len());
        assertEquals(77, server.wcs[0].getImm_data());
        assertEquals(server.qp.getQp_num(), server.wcs[0].getQp_num());
        assertEquals(42, server.buffer.getLong(0));
        assertEquals(2000, client.completion().getWr_id());

        server.receive(2002, 128, 64);
        call.getWrMod(0).setWr_id(2003);
        call.getWrMod(0).getSgeMod(0).setAddr(client.mr.getAddr() + 8);
        assertTrue(call.isValid());
        call.execute();
        assertEquals(2002, server.completion().getWr_id());
        assertEquals(43, server.buffer.getLong(128));
        assertEquals(2003, client.completion().getWr_id());
        assertFalse(call.free().isValid());
        assertThrows(IOException.class, call::execute);
        closeAll();
    }

    @Test
    void shouldWriteToThePeer() throws Exception {
        connect();
        client.buffer.putLong(16, 4711);
        IbvSendWR write = client.send(1, IbvSendWR.IBV_WR_RDMA_WRITE, 16, 8);
        write.getRdma().setRemote_addr(server.mr.getAddr() + 512);
        write.getRdma().setRkey(server.mr.getRkey());
        client.qp.postSend(List.of(write), null).execute().free();
        assertEquals(1, client.completion().getWr_id());
        assertEquals(4711, server.buffer.getLong(512));
        closeAll();
    }

    @Test
    void shouldReportWhatWasNotPosted() throws Exception {
        connect();
        List<IbvSendWR> list = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            IbvSendWR write = client.send(i, IbvSendWR.IBV_WR_RDMA_WRITE, 0, i == 35 ? 4096 : 8);
            write.setSend_flags(i == 35 ? IbvSendWR.IBV_SEND_INLINE : 0); // more than the queue pair takes inline
            write.getRdma().setRemote_addr(server.mr.getAddr());
            write.getRdma().setRkey(server.mr.getRkey());
            list.add(write);
        }
        List<IbvSendWR> bad = new ArrayList<>();
        SVCPostSend call = client.qp.postSend(list, bad);
        assertEquals(
                Errno.EINVAL, assertThrows(ErrnoException.class, call::execute).errno());
        assertEquals(list.subList(35, 40), bad);
        closeAll();
    }

    @Test
    void shouldSayWhatIsNotSupported() throws Exception {
        connect();
        assertEquals(0, clientId.getVerbs().queryOdpSupport());
        assertThrows(IOException.class, () -> client.mr.expPrefetchMr(client.mr.getAddr(), 8));
        assertThrows(IOException.class, () -> client.pd.regMr(ByteBuffer.allocate(16), 1));
        assertFalse(client.channel.getCqEvent(client.cq, 10));
        closeAll();
    }
}
