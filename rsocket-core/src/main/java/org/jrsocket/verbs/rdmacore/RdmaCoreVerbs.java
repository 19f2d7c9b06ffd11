/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.verbs.CompChannel;
import org.jrsocket.verbs.Cq;
import org.jrsocket.verbs.CqSet;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.Mr;
import org.jrsocket.verbs.Pd;
import org.jrsocket.verbs.disni.DisniVerbs;

/** The verbs of libibverbs. */
final class RdmaCoreVerbs extends DisniVerbs {

    /**
     * Completion vectors are interrupts, which the system spreads over its cores. Channels take turns at them, and the
     * queues of a channel, which belong to one connection, share one: if queues took turns, receive queues would have
     * only every second vector.
     */
    private final AtomicInteger nextVector = new AtomicInteger();

    @Override
    public Pd allocPd(IbvContext device) throws IOException {
        return new RdmaCorePd((RdmaCoreDevice) device);
    }

    @Override
    public CompChannel createCompChannel(IbvContext device) throws IOException {
        int vectors = Math.max(1, device.getNumCompVectors());
        int vector = Math.floorMod(nextVector.getAndIncrement(), vectors);
        return RdmaCoreCompChannel.create((RdmaCoreDevice) device, vector);
    }

    @Override
    public Cq createCq(Device device, CompChannel channel, int entries, int cookie) throws IOException {
        RdmaCoreCompChannel events = (RdmaCoreCompChannel) channel;
        return new RdmaCoreCq((RdmaCoreDevice) device, events, entries, events == null ? 0 : events.vector, cookie);
    }

    @Override
    public Cq createCQ(IbvContext device, IbvCompChannel channel, int entries, int vector) throws IOException {
        return new RdmaCoreCq((RdmaCoreDevice) device, (RdmaCoreCompChannel) channel, entries, vector, 0);
    }

    @Override
    public CqSet createCqSet(int capacity) {
        return new RdmaCoreCqSet(capacity);
    }

    @Override
    public Mr registerMr(Pd pd, long address, int length, int access) throws IOException {
        return RdmaCoreMr.register((RdmaCorePd) pd, address, length, access);
    }

    @Override
    public void deregisterMr(Mr mr) throws IOException {
        ((RdmaCoreMr) mr).deregister();
    }
}
