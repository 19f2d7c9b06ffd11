/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Enumeration;

/**
 * Finds the interface of link-local IPv6 addresses. The kernel's connection manager leaves it out where it names the
 * ends of a request, and without it nothing can connect back.
 */
final class LinkLocal {

    private LinkLocal() {}

    /** Returns whether the address needs an interface and names none. */
    static boolean isUnscoped(InetSocketAddress address) {
        return address.getAddress() instanceof Inet6Address ip && ip.isLinkLocalAddress() && ip.getScopeId() == 0;
    }

    /**
     * Returns the index of the one interface of this host that has this address.
     *
     * @return 0 if none or several have it, so that it cannot be told
     */
    static int scopeOf(InetAddress local) {
        byte[] bytes = local.getAddress();
        int found = 0;
        try {
            for (Enumeration<NetworkInterface> all = NetworkInterface.getNetworkInterfaces(); all.hasMoreElements(); ) {
                NetworkInterface each = all.nextElement();
                if (each.inetAddresses().anyMatch(address -> Arrays.equals(address.getAddress(), bytes))) {
                    if (found != 0) {
                        return 0;
                    }
                    found = each.getIndex();
                }
            }
        } catch (SocketException e) { // also thrown if there are none
            return 0;
        }
        return found;
    }

    /** Returns the address at this interface, or unchanged if it needs none. */
    static InetSocketAddress at(int scope, InetSocketAddress address) {
        if (scope == 0 || !isUnscoped(address)) {
            return address;
        }
        try {
            return new InetSocketAddress(
                    Inet6Address.getByAddress(null, address.getAddress().getAddress(), scope), address.getPort());
        } catch (UnknownHostException e) { // there are always sixteen bytes
            throw new IllegalStateException(e);
        }
    }
}
