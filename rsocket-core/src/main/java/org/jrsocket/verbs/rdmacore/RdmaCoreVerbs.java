/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import java.io.IOException;
import org.jrsocket.verbs.CompChannel;
import org.jrsocket.verbs.Cq;
import org.jrsocket.verbs.CqSet;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.Mr;
import org.jrsocket.verbs.Pd;
import org.jrsocket.verbs.disni.DisniVerbs;

/** The verbs of libibverbs. */
final class RdmaCoreVerbs extends DisniVerbs {

    @Override
    public Pd allocPd(IbvContext device) throws IOException {
        return new RdmaCorePd((RdmaCoreDevice) device);
    }

    @Override
    public CompChannel createCompChannel(IbvContext device) throws IOException {
        RdmaCoreDevice where = (RdmaCoreDevice) device;
        return RdmaCoreCompChannel.create(where, where.nextVector());
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
