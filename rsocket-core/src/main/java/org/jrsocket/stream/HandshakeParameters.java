/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import org.jrsocket.verbs.ConnParam;
import org.jrsocket.wire.ConnData;

/** The connection parameters of every rsocket. */
final class HandshakeParameters {

    /** Six, not seven: soft-RoCE takes seven to mean "for ever", and would never notice that a peer died. */
    private static final int RETRIES = 6;
    /** For ever, on both sides: an RNR NAK is part of rsocket's flow control and must not end a connection. */
    private static final int RNR_RETRIES = 7;

    private HandshakeParameters() {}

    /**
     * Returns the parameters of a request.
     *
     * @param iwarp whether the device is an iWARP one: some of these read while they connect, so the active side asks
     *     for one RDMA read
     */
    static ConnParam ofRequest(ConnData data, boolean iwarp) {
        return of(data, iwarp ? 1 : 0);
    }

    static ConnParam ofAnswer(ConnData data) {
        return of(data, 0);
    }

    private static ConnParam of(ConnData data, int reads) {
        return new ConnParam()
                .depths(0, reads)
                .flowControl(true)
                .retries(RETRIES, RNR_RETRIES)
                .privateData(data.encode());
    }
}
