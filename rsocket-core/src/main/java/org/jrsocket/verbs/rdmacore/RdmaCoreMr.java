/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import static org.jrsocket.verbs.rdmacore.RdmaCoreErrors.check;

import java.io.IOException;
import org.jrsocket.verbs.Mr;

/** An {@code ibv_mr}. */
final class RdmaCoreMr extends Mr {

    private long mr; // guarded by this; 0 once freed

    private RdmaCoreMr(RdmaCorePd pd, long address, int length, int access, long mr, int[] keys) throws IOException {
        super(pd.device(), address, length, access, keys[0], keys[1], keys[2]);
        this.mr = mr;
    }

    static RdmaCoreMr register(RdmaCorePd pd, long address, int length, int access) throws IOException {
        int[] keys = new int[3];
        long mr = Native.regMr(pd.handle(), address, Integer.toUnsignedLong(length), access, keys);
        if (mr <= 0) { // the text is built only on failure: lack of memory for it would lose the region
            check(mr, "ibv_reg_mr", Integer.toUnsignedLong(length) + " bytes on " + pd.device());
        }
        try {
            return new RdmaCoreMr(pd, address, length, access, mr, keys);
        } catch (Throwable e) {
            Native.deregMr(mr);
            throw e;
        }
    }

    synchronized void deregister() throws IOException {
        if (mr != 0) {
            check(Native.deregMr(mr), "ibv_dereg_mr", context);
            mr = 0;
            isOpen = false;
        }
    }
}
