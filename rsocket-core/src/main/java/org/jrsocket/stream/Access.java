/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Decides who may connect to a listener. Called on the service thread for each request; must not block. */
public interface Access {

    /** Admits everybody. */
    Access ALL = (source, local, device) -> null;

    /**
     * Returns why a request may not connect, or null if it may.
     *
     * @param source the sender's address according to the request; unverified
     * @param local the address that the request came to, with the listener's port
     * @param device the device that has that address
     * @return null if it may connect, otherwise the reason, for this host's log: the peer is told no reason
     */
    String refusal(InetAddress source, InetSocketAddress local, String device);

    /** Called on any thread when a refused request has been answered, {@code nanos} after it was taken. */
    default void refused(long nanos) {}
}
