/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import static org.jrsocket.verbs.rdmacore.RdmaCoreErrors.check;

import com.ibm.disni.verbs.IbvQPCap;
import com.ibm.disni.verbs.IbvQPInitAttr;
import java.io.IOException;
import org.jrsocket.os.Errno;
import org.jrsocket.verbs.Qp;
import org.jrsocket.verbs.RecvBatch;
import org.jrsocket.verbs.SendBatch;

/** The {@code ibv_qp} of a CM id. */
final class RdmaCoreQp extends Qp {

    private long qp; // written under this; 0 once destroyed
    private int postError; // written by the posting thread

    RdmaCoreQp() throws IOException {
        super(0);
    }

    /** Makes the C object. The caller holds the id's lock, and puts this object into the id. */
    synchronized void create(long id, RdmaCorePd domain, IbvQPInitAttr attr) throws IOException {
        RdmaCoreCq sendCq = (RdmaCoreCq) attr.getSend_cq();
        RdmaCoreCq recvCq = (RdmaCoreCq) attr.getRecv_cq();
        IbvQPCap cap = attr.cap();
        int[] io = {
            cap.getMax_send_wr(),
            cap.getMax_recv_wr(),
            cap.getMax_send_sge(),
            cap.getMax_recv_sge(),
            cap.getMax_inline_data(),
            0,
            0
        };
        long created = Native.createQp(
                id,
                domain.handle(),
                sendCq.handle(),
                recvCq.handle(),
                attr.getQp_type(),
                attr.getSq_sig_all() != 0,
                io);
        if (created <= 0) { // the text is built only on failure
            check(created, "rdma_create_qp", io[0] + " sends, " + io[1] + " receives on " + domain.device());
        }
        qp = created;
        cap.setMax_send_wr(io[0]);
        cap.setMax_recv_wr(io[1]);
        cap.setMax_send_sge(io[2]);
        cap.setMax_recv_sge(io[3]);
        cap.setMax_inline_data(io[4]);
        qp_num = io[5];
        handle = io[6];
        qp_type = attr.getQp_type();
        context = domain.device();
        pd = domain;
        send_cq = sendCq;
        recv_cq = recvCq;
    }

    /** Frees the C object. The caller holds the id's lock, and has taken this object from the id. */
    synchronized void destroy() throws IOException {
        long doomed = qp;
        qp = 0;
        isOpen = false;
        check(Native.destroyQp(doomed), "ibv_destroy_qp", context);
    }

    /** Returns the C object. To be called under the id's lock, without which it is not destroyed. */
    long handleOfItsId() {
        return qp;
    }

    private long handle() {
        assert Thread.holdsLock(this);
        if (qp == 0) {
            throw new IllegalStateException("queue pair was destroyed");
        }
        return qp;
    }

    @Override
    public int postSend(SendBatch batch) {
        long queue = qp;
        int count = batch.size();
        return queue == 0 ? destroyed() : posted(Native.postSend(queue, batch.address(), count), count);
    }

    @Override
    public int postRecv(RecvBatch batch) {
        long queue = qp;
        int count = batch.size();
        return queue == 0 ? destroyed() : posted(Native.postRecv(queue, batch.address(), count), count);
    }

    @Override
    public int postReceives(int count) {
        long queue = qp;
        return queue == 0 ? destroyed() : posted(Native.postReceives(queue, count), count);
    }

    @Override
    public int postReceives(int count, long address, int length, int lkey) {
        long queue = qp;
        return queue == 0 ? destroyed() : posted(Native.postReceives(queue, count, address, length, lkey), count);
    }

    private int posted(long result, int wanted) {
        if (result != wanted) {
            postError = (int) (result >>> 32);
        }
        return (int) result;
    }

    private int destroyed() {
        postError = Errno.EINVAL;
        return 0;
    }

    @Override
    public int postError() {
        return postError;
    }

    @Override
    public synchronized void toError() throws IOException {
        check(Native.qpToError(handle()), "ibv_modify_qp", "to error, " + context);
    }

    @Override
    public synchronized void setMinRnrTimer(int code) throws IOException {
        check(Native.qpMinRnrTimer(handle(), code), "ibv_modify_qp", "RNR timer, " + context);
    }

    @Override
    public int minRnrTimer() throws IOException {
        return timers() >> 8;
    }

    @Override
    public int ackTimeout() throws IOException {
        return timers() & 0xff;
    }

    private synchronized int timers() throws IOException {
        return check(Native.qpTimers(handle()), "ibv_query_qp", context);
    }
}
