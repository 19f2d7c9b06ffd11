/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaVerbs;
import com.ibm.disni.verbs.SVCDeregMr;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import com.ibm.disni.verbs.SVCRegMr;
import com.ibm.disni.verbs.SVCReqNotify;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.Fds;
import org.jrsocket.os.NativeMemory;

/**
 * libibverbs: the objects behind a connection. Every object is owned by its creator and freed once, by the destroy call of its kind, in the
 * order queue pair, completion queues, completion channel, memory regions, protection domain. Safe for use by many threads as long as an
 * object is not used while or after it is destroyed.
 *
 * <p>DiSNI's prepared calls ({@code SVC...}) work with every provider: they are built here on {@link Qp}, {@link Cq} and the methods below. They
 * allocate, so this project's own data path does not use them.
 */
public abstract class Verbs extends RdmaVerbs {

    private final SvcBatches batches = new SvcBatches();

    @Override
    public abstract Pd allocPd(IbvContext device) throws IOException;

    @Override
    public abstract CompChannel createCompChannel(IbvContext device) throws IOException;

    /** @param cookie what {@link CompChannel#takeEvent()} returns for this queue's events; not negative */
    public abstract Cq createCq(Device device, CompChannel channel, int entries, int cookie) throws IOException;

    @Override
    public Cq createCQ(IbvContext device, IbvCompChannel channel, int entries, int vector) throws IOException {
        return createCq((Device) device, (CompChannel) channel, entries, 0);
    }

    /**
     * Registers memory.
     *
     * @param access an OR of {@code IbvMr.IBV_ACCESS_...}
     */
    public abstract Mr registerMr(Pd pd, long address, int length, int access) throws IOException;

    /** Frees the registration; peers can no longer use its rkey when this returns. */
    public abstract void deregisterMr(Mr mr) throws IOException;

    @Override
    public int destroyCompChannel(IbvCompChannel channel) throws IOException {
        ((CompChannel) channel).destroy();
        return 0;
    }

    @Override
    public int deallocPd(IbvPd pd) throws IOException {
        ((Pd) pd).dealloc();
        return 0;
    }

    @Override
    public int destroyCQ(IbvCQ cq) throws IOException {
        return ((Cq) cq).destroyCQ();
    }

    @Override
    public int ackCqEvents(IbvCQ cq, int count) throws IOException {
        return ((Cq) cq).ackEvents(count);
    }

    // DiSNI's prepared calls

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

    /** Events come for every completion, also when only solicited ones are asked for. */
    @Override
    public SVCReqNotify reqNotifyCQ(IbvCQ cq, boolean solicitedOnly) throws IOException {
        return new DisniMemoryCalls.ReqNotify((Cq) cq);
    }

    /**
     * Waits for one event of the channel and takes it; of which queue it was is not told.
     *
     * @param timeout in milliseconds, negative waits for ever
     * @return whether there was one
     */
    @Override
    public boolean getCqEvent(IbvCompChannel channel, IbvCQ cq, int timeout) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeout);
        while (((CompChannel) channel).takeEvent() < 0) {
            long left = timeout < 0 ? -1 : deadline - System.nanoTime();
            if (timeout >= 0 && left <= 0) {
                return false;
            }
            int rc = Fds.waitReadable(channel.getFd(), -1, left);
            if (rc < 0) {
                throw new ErrnoException("ppoll", "completion channel", -rc);
            }
        }
        return true;
    }

    /** None: memory is pinned when it is registered. */
    @Override
    public int queryOdpSupport(IbvContext device) throws IOException {
        return 0;
    }

    /** @throws IOException always */
    @Override
    public int expPrefetchMr(IbvMr mr, long address, int length) throws IOException {
        throw new IOException("on-demand paging is not supported", new UnsupportedOperationException());
    }
}
