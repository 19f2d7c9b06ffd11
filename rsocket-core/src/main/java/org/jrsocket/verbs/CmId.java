/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import com.ibm.disni.verbs.RdmaCmId;
import java.io.IOException;

/**
 * A connection manager id. Owned by whoever created it or took it from a CONNECT_REQUEST; freed once, by
 * {@link #destroyId()}.
 */
public abstract class CmId extends RdmaCmId {

    private volatile Object attachment;

    protected CmId(CmChannel channel, Device device) throws IOException {
        super(channel, device);
    }

    /** Returns the device serving the id's address; null until resolved, or for a listener on a wildcard address. */
    @Override
    public abstract Device getVerbs();

    /** Returns what the owner has attached to the id, so that an event finds its connection without a map. */
    public final Object attachment() {
        return attachment;
    }

    /** @see #attachment() */
    public final void attach(Object newAttachment) {
        this.attachment = newAttachment;
    }
}
