/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.net.InetAddress;

/** Who may connect to a listener. Asked on the service thread for each request; must not block. */
public interface Access {

    /** Everybody. */
    Access ALL = (source, port) -> true;

    /**
     * @param source what the request gives as its sender's address; nothing has proven it
     * @param port the listener's
     */
    boolean admits(InetAddress source, int port);
}
