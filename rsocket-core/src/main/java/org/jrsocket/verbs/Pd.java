/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvPd;
import java.io.IOException;

/** A protection domain: every queue pair in it can be reached with any rkey of it, so it must never span two peers. */
public abstract class Pd extends IbvPd {
    protected Pd(IbvContext device) throws IOException {
        super(device);
    }

    /** {@code ibv_dealloc_pd}; fails with EBUSY while anything in it exists. */
    public abstract void dealloc() throws IOException;
}
