/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import com.ibm.disni.verbs.IbvContext;
import java.io.IOException;
import org.jrsocket.verbs.CompChannel;
import org.jrsocket.verbs.Cq;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.Mr;
import org.jrsocket.verbs.Pd;
import org.jrsocket.verbs.disni.DisniVerbs;

final class LoopbackVerbs extends DisniVerbs {

    private final LoopbackProvider provider;

    LoopbackVerbs(LoopbackProvider provider) {
        this.provider = provider;
    }

    private LoopbackDevice own(IbvContext device) {
        LoopbackDevice own = (LoopbackDevice) device;
        if (own.provider() != provider) {
            throw new IllegalArgumentException(own + " is another provider's");
        }
        return own;
    }

    @Override
    public Pd allocPd(IbvContext device) throws IOException {
        return new LoopbackPd(own(device));
    }

    @Override
    public CompChannel createCompChannel(IbvContext device) throws IOException {
        return LoopbackCompChannel.create(own(device));
    }

    @Override
    public Cq createCq(Device device, CompChannel channel, int entries, int cookie) throws IOException {
        return own(device).newCq((LoopbackCompChannel) channel, entries, cookie);
    }

    @Override
    public Mr registerMr(Pd pd, long address, int length, int access) throws IOException {
        return LoopbackMr.register((LoopbackPd) pd, address, length, access);
    }

    @Override
    public void deregisterMr(Mr mr) throws IOException {
        ((LoopbackMr) mr).deregister();
    }
}
