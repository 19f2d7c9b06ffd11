/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.jfr;

import java.net.InetSocketAddress;

/** Something that cannot be sent until the peer allows it, from {@code Events.stalled}. */
public interface Stall {

    /**
     * Records that the stall is over.
     *
     * @param bytes how many were waiting
     */
    void over(InetSocketAddress local, InetSocketAddress remote, String device, long bytes);
}
