/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import com.ibm.disni.verbs.RdmaConnParam;

/**
 * {@code rdma_conn_param} with every field settable. DiSNI's class refuses to set the depths, and keeps private data as
 * an address.
 */
public final class ConnParam extends RdmaConnParam {

    private byte[] data = new byte[0];

    public ConnParam depths(int responderResources, int initiatorDepth) {
        this.responder_resources = (byte) responderResources;
        this.initiator_depth = (byte) initiatorDepth;
        return this;
    }

    public ConnParam flowControl(boolean on) {
        this.flow_control = (byte) (on ? 1 : 0);
        return this;
    }

    /** Sets the transport retries. The wire cuts values above 7 to 7. */
    public ConnParam retries(int retryCount, int rnrRetryCount) {
        this.retry_count = (byte) retryCount;
        this.rnr_retry_count = (byte) rnrRetryCount;
        return this;
    }

    /** Sets the private data: at most 56 bytes in a request and 196 in an answer, on IB and RoCE; 255 on iWARP. */
    public ConnParam privateData(byte[] bytes) {
        if (bytes.length > 255) {
            throw new IllegalArgumentException("private data of " + bytes.length + " bytes; at most 255 fit");
        }
        this.data = bytes;
        return this;
    }

    public byte[] privateData() {
        return data;
    }
}
