/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Who may connect to a listener. Asked on the service thread for each request; must not block. */
public interface Access {

    /** Everybody. */
    Access ALL = (source, local, device) -> null;

    /**
     * @param source what the request gives as its sender's address; nothing has proven it
     * @param local to which the request came: the listener's port
     * @param device that has it
     * @return null if it may connect, otherwise why not, for this host's log: the peer is told no reason
     */
    String refusal(InetAddress source, InetSocketAddress local, String device);

    /** A request that was not admitted has its answer, so many nanoseconds after it was taken. Any thread. */
    default void refused(long nanos) {}
}
