/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import static org.jrsocket.verbs.rdmacore.RdmaCoreErrors.check;

import java.io.IOException;
import org.jrsocket.verbs.Pd;

/** An {@code ibv_pd}. */
final class RdmaCorePd extends Pd {

    private final RdmaCoreDevice device;
    private long pd; // guarded by this; 0 once freed

    RdmaCorePd(RdmaCoreDevice device) throws IOException {
        super(device);
        this.device = device;
        this.pd = check(Native.allocPd(device.handle()), "ibv_alloc_pd", device);
    }

    RdmaCoreDevice device() {
        return device;
    }

    synchronized long handle() {
        if (pd == 0) {
            throw new IllegalStateException("protection domain was freed");
        }
        return pd;
    }

    @Override
    public synchronized void dealloc() throws IOException {
        if (pd != 0) {
            check(Native.deallocPd(pd), "ibv_dealloc_pd", device);
            pd = 0;
            isOpen = false;
        }
    }
}
