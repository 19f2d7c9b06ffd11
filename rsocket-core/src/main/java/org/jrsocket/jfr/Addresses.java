/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.jfr;

import java.net.InetSocketAddress;

/** The fields that events have for an address, which may be unresolved or not known. */
final class Addresses {

    private Addresses() {}

    static String host(InetSocketAddress address) {
        return address == null
                ? null
                : address.getAddress() == null
                        ? address.getHostString()
                        : address.getAddress().getHostAddress();
    }

    static int port(InetSocketAddress address) {
        return address == null ? 0 : address.getPort();
    }
}
