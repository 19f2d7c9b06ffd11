/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import java.io.IOException;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.Qp;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.wire.MessageWord;

/** Makes the queue pair of one endpoint, with as much inline data as the device takes. */
final class QpMaker {

    private final EndpointServices services;
    private final CmId id;
    private final Device device;
    private final Bundle bundle;
    private int inlineLimit;

    QpMaker(EndpointServices services, CmId id, Bundle bundle) {
        this.services = services;
        this.id = id;
        this.device = id.getVerbs();
        this.bundle = bundle;
    }

    /**
     * Makes it. Without memory for it, what is kept for others is freed first.
     *
     * @param inline the wanted bytes of payload inside a work request
     * @throws IOException if the device or the system refuses; says what to do
     */
    Qp make(int inline) throws IOException {
        try {
            return makeNow(inline);
        } catch (ErrnoException e) {
            if (!MemoryBudget.isLackOfObjects(e) || !services.bundles().makeRoom(device)) {
                throw e;
            }
            return makeNow(inline);
        }
    }

    private Qp makeNow(int inline) throws IOException {
        try {
            int wanted = Math.min(inline, device.mostInline());
            int floor = device.isIwarp() ? MessageWord.SIZE : 0;
            return services.inlineLimits().make(device, wanted, floor, this::attempt);
        } catch (ErrnoException e) {
            if (!InlineLimits.isRefusal(e)) {
                throw e;
            }
            throw new IOException(
                    device.name() + " refuses a queue pair of " + bundle.shape.sendQueue() + " sends and "
                            + bundle.shape.receiveQueue() + " receives (" + e.getMessage() + "); "
                            + (e.errno() == Errno.EINVAL ? "" : "if others can use the device, ")
                            + "lower queue.send or queue.receive",
                    e);
        }
    }

    private Qp attempt(int inline) throws IOException {
        IbvQPInitAttr attr = new IbvQPInitAttr();
        attr.setQp_type(IbvQP.IBV_QPT_RC);
        attr.setSq_sig_all((byte) 0);
        attr.setSend_cq(bundle.sendCq);
        attr.setRecv_cq(bundle.recvCq);
        attr.cap().setMax_send_wr(bundle.shape.sendQueue());
        attr.cap().setMax_recv_wr(bundle.shape.receiveQueue());
        attr.cap().setMax_send_sge(2);
        attr.cap().setMax_recv_sge(1);
        attr.cap().setMax_inline_data(inline);
        // the device may grant more slots, but the completion queues are sized for these
        Qp made = services.cm().createQP(id, bundle.pd(), attr);
        inlineLimit = Math.min(attr.cap().getMax_inline_data(), Math.min(SendBatch.PAYLOAD, device.mostInline()));
        return made;
    }

    /** Returns what the device granted of inline data, which may be more than was asked for. */
    int inlineLimit() {
        return inlineLimit;
    }
}
