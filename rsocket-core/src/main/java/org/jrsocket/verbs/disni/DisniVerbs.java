/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.disni;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCDeregMr;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import com.ibm.disni.verbs.SVCRegMr;
import com.ibm.disni.verbs.SVCReqNotify;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.verbs.Cq;
import org.jrsocket.verbs.Mr;
import org.jrsocket.verbs.Pd;
import org.jrsocket.verbs.Qp;
import org.jrsocket.verbs.Verbs;

/**
 * Verbs with DiSNI's prepared calls ({@code SVC...}), which work with every provider: they are built here on
 * {@link Qp}, {@link Cq} and the methods of {@link Verbs}. They allocate: programs written for DiSNI use them, but this
 * project's own data path does not. Providers extend this class.
 */
public abstract class DisniVerbs extends Verbs {

    private final SvcBatches batches = new SvcBatches();

    /** Registers the whole buffer, whatever its position and limit; it must be direct. */
    @Override
    public SVCRegMr regMr(IbvPd pd, ByteBuffer buffer, int access) throws IOException {
        long address = NativeMemory.addressOf(buffer);
        if (address == 0) {
            throw new IOException("only direct buffers can be registered");
        }
        return new DisniMemoryCalls.RegMr(this, (Pd) pd, address, buffer.capacity(), access, buffer);
    }

    @Override
    public SVCRegMr regMr(IbvPd pd, long address, int length, int access) throws IOException {
        return new DisniMemoryCalls.RegMr(this, (Pd) pd, address, length, access, null);
    }

    @Override
    public SVCDeregMr deregMr(IbvMr mr) throws IOException {
        return new DisniMemoryCalls.DeregMr(this, (Mr) mr);
    }

    @Override
    public SVCPostSend postSend(IbvQP qp, List<IbvSendWR> requests, List<IbvSendWR> bad) throws IOException {
        return new SvcPostSend((Qp) qp, batches, requests, bad);
    }

    @Override
    public SVCPostRecv postRecv(IbvQP qp, List<IbvRecvWR> requests, List<IbvRecvWR> bad) throws IOException {
        return new SvcPostRecv((Qp) qp, batches, requests, bad);
    }

    @Override
    public SVCPollCq pollCQ(IbvCQ cq, IbvWC[] completions, int count) throws IOException {
        return new SvcPollCq((Cq) cq, batches, completions, count);
    }

    /** Requests events for every completion, even if only solicited ones are asked for. */
    @Override
    public SVCReqNotify reqNotifyCQ(IbvCQ cq, boolean solicitedOnly) throws IOException {
        return new DisniMemoryCalls.ReqNotify((Cq) cq);
    }
}
