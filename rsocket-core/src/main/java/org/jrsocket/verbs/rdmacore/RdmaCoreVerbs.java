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

/** libibverbs. */
public final class RdmaCoreVerbs extends DisniVerbs {

    /** Completion vectors are interrupts, which the system spreads over its cores; queues take turns at them. */
    private final AtomicInteger nextVector = new AtomicInteger();

    @Override
    public Pd allocPd(IbvContext device) throws IOException {
        return new RdmaCorePd((RdmaCoreDevice) device);
    }

    @Override
    public CompChannel createCompChannel(IbvContext device) throws IOException {
        return RdmaCoreCompChannel.create((RdmaCoreDevice) device);
    }

    @Override
    public Cq createCq(Device device, CompChannel channel, int entries, int cookie) throws IOException {
        int vectors = Math.max(1, device.getNumCompVectors());
        int vector = Math.floorMod(nextVector.getAndIncrement(), vectors);
        return new RdmaCoreCq((RdmaCoreDevice) device, (RdmaCoreCompChannel) channel, entries, vector, cookie);
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
