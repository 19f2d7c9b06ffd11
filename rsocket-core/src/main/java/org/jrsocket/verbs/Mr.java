/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import java.io.IOException;

/** A registered memory region. */
public abstract class Mr extends IbvMr {
    protected Mr(IbvContext device, long address, int length, int access, int lkey, int rkey, int handle)
            throws IOException {
        super(device, address, length, access, lkey, rkey, handle);
    }
}
