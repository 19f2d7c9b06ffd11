/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.net.InetSocketAddress;
import org.jrsocket.connect.TcpPort;

/** TCP's side of a listener, without a socket. */
record NoSocket(InetSocketAddress address) implements TcpPort {

    @Override
    public boolean isAny() {
        return false;
    }

    @Override
    public void change() {
        throw new AssertionError("the program asked for this port");
    }
}
