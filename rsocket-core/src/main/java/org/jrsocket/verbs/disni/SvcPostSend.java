/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.disni;

import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.SVCPostSend;
import java.io.IOException;
import java.util.List;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.verbs.NetOrder;
import org.jrsocket.verbs.Qp;
import org.jrsocket.verbs.SendBatch;

/**
 * DiSNI's prepared post to a send queue, which keeps a copy of its list; {@link #getWrMod} changes that between
 * executions. Supports RDMA writes, reads and sends of up to {@link SendBatch#MAX_SGE} scatter entries. Not thread
 * safe, as in DiSNI.
 */
final class SvcPostSend extends SVCPostSend {

    private final Qp qp;
    private final SvcBatches batches;
    private final Wr[] requests;
    private final List<IbvSendWR> originals;
    private final List<IbvSendWR> bad;
    private boolean valid = true;

    /** @param bad gets the requests that were not posted; may be null */
    SvcPostSend(Qp qp, SvcBatches batches, List<IbvSendWR> list, List<IbvSendWR> bad) throws IOException {
        this.qp = qp;
        this.batches = batches;
        this.originals = List.copyOf(list);
        this.bad = bad;
        this.requests = new Wr[list.size()];
        int i = 0;
        for (IbvSendWR request : list) {
            requests[i++] = new Wr(request);
        }
    }

    @Override
    public SVCPostSend execute() throws IOException {
        if (!valid || !qp.isOpen()) {
            throw new IOException(valid ? "queue pair was destroyed" : "call was freed");
        }
        SendBatch batch = batches.takeSend();
        try {
            int done = 0;
            while (done < requests.length) {
                batch.clear();
                int count = Math.min(batch.capacity(), requests.length - done);
                for (int i = 0; i < count; i++) {
                    requests[done + i].appendTo(batch);
                }
                int posted = qp.postSend(batch);
                done += posted;
                if (posted < count) {
                    if (bad != null) {
                        bad.addAll(originals.subList(done, originals.size()));
                    }
                    throw new ErrnoException(
                            "ibv_post_send", done + " of " + requests.length + " posted", qp.postError());
                }
            }
        } finally {
            batches.give(batch);
        }
        return this;
    }

    @Override
    public SendWRMod getWrMod(int index) {
        return requests[index];
    }

    @Override
    public boolean isValid() {
        return valid;
    }

    @Override
    public SVCPostSend free() {
        valid = false;
        return this;
    }

    private static final class Wr implements SendWRMod, RdmaMod {

        private final int opcode;
        private final int imm;
        private final Sge[] sges;
        private long id;
        private int flags;
        private long remoteAddress;
        private int rkey;
        private int reserved;

        Wr(IbvSendWR request) throws IOException {
            int entries = request.getSg_list().size();
            opcode = request.getOpcode();
            if (entries > SendBatch.MAX_SGE || opcode < 0 || opcode > IbvSendWR.IBV_WR_RDMA_READ) {
                throw new IOException("opcode " + opcode + " with " + entries
                        + " scatter entries: only writes, sends and reads with up to " + SendBatch.MAX_SGE
                        + " are supported");
            }
            id = request.getWr_id();
            flags = request.getSend_flags();
            imm = request.getImm_data();
            remoteAddress = request.getRdma().getRemote_addr();
            rkey = request.getRdma().getRkey();
            sges = new Sge[entries];
            int i = 0;
            for (IbvSge sge : request.getSg_list()) {
                sges[i++] = new Sge(sge);
            }
        }

        void appendTo(SendBatch batch) {
            // DiSNI's immediate data are the bytes in memory; a batch takes their value in host order.
            batch.add(id, opcode, flags, NetOrder.swap(imm), remoteAddress, rkey);
            for (Sge sge : sges) {
                batch.sge(sge.address, sge.length, sge.lkey);
            }
        }

        @Override
        public void setWr_id(long wrId) {
            id = wrId;
        }

        @Override
        public long getWr_id() {
            return id;
        }

        @Override
        public void setSend_flags(int sendFlags) {
            flags = sendFlags;
        }

        @Override
        public int getSend_flags() {
            return flags;
        }

        @Override
        public int getNum_sge() {
            return sges.length;
        }

        @Override
        public int getOpcode() {
            return opcode;
        }

        @Override
        public RdmaMod getRdmaMod() {
            return this;
        }

        @Override
        public SgeMod getSgeMod(int index) {
            return sges[index];
        }

        @Override
        public void setRemote_addr(long address) {
            remoteAddress = address;
        }

        @Override
        public long getRemote_addr() {
            return remoteAddress;
        }

        @Override
        public void setRkey(int key) {
            rkey = key;
        }

        @Override
        public int getRkey() {
            return rkey;
        }

        @Override
        public void setReserved(int value) {
            reserved = value;
        }

        @Override
        public int getReserved() {
            return reserved;
        }
    }

    private static final class Sge implements SgeMod {

        private long address;
        private int length;
        private int lkey;

        Sge(IbvSge sge) {
            address = sge.getAddr();
            length = sge.getLength();
            lkey = sge.getLkey();
        }

        @Override
        public void setAddr(long addr) {
            address = addr;
        }

        @Override
        public long getAddr() {
            return address;
        }

        @Override
        public void setLength(int newLength) {
            length = newLength;
        }

        @Override
        public int getLength() {
            return length;
        }

        @Override
        public void setLkey(int key) {
            lkey = key;
        }

        @Override
        public int getLkey() {
            return lkey;
        }
    }
}
