/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.InetSocketAddress;

/** TCP's side of a listener without a socket. */
final class FakePort implements TcpPort {

    private InetSocketAddress address;
    private final boolean any;
    int changes;

    private FakePort(InetSocketAddress address, boolean any) {
        this.address = address;
        this.any = any;
    }

    /** The application asked for this port. */
    static FakePort given(InetSocketAddress address) {
        return new FakePort(address, false);
    }

    /** TCP chose the port; it goes on with the next. */
    static FakePort any(InetSocketAddress first) {
        return new FakePort(first, true);
    }

    @Override
    public InetSocketAddress address() {
        return address;
    }

    @Override
    public boolean isAny() {
        return any;
    }

    @Override
    public void change() {
        changes++;
        address = new InetSocketAddress(address.getAddress(), address.getPort() + 1);
    }
}
