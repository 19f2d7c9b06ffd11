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
import com.ibm.disni.verbs.RdmaVerbs;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.Fds;

/**
 * libibverbs: the objects behind a connection. Every object is owned by its creator and freed once, by the destroy call
 * of its kind, in the order queue pair, completion queues, completion channel, memory regions, protection domain. Safe
 * for use by many threads as long as an object is not used while or after it is destroyed.
 *
 * <p>DiSNI's prepared calls ({@code SVC...}) are in {@code verbs.disni}: this project's own data path does not use
 * them.
 */
public abstract class Verbs extends RdmaVerbs {

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

    /** Returns an empty set of at most {@code capacity} completion queues of this provider. */
    public CqSet createCqSet(int capacity) {
        return new CqSet(capacity);
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

    /** Does nothing, because events are acknowledged when they are taken. */
    @Override
    public int ackCqEvents(IbvCQ cq, int count) {
        return 0;
    }

    /**
     * Waits for one event of the channel and takes it, without saying which queue it was for.
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

    /** Returns 0 for none: memory is pinned when it is registered. */
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
