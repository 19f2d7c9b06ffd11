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
 * The interface of link-local IPv6 addresses. The kernel's connection manager leaves it out where it names the ends of
 * a request, and without it nobody can connect back.
 */
final class LinkLocal {

    private LinkLocal() {}

    /** Whether it needs an interface, and names none. */
    static boolean isUnscoped(InetSocketAddress address) {
        return address.getAddress() instanceof Inet6Address ip && ip.isLinkLocalAddress() && ip.getScopeId() == 0;
    }

    /**
     * The index of the one interface of this host that has this address.
     *
     * @return 0 if none has it, or several have, so that nobody can tell
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
        } catch (SocketException e) { // also where there are none
            return 0;
        }
        return found;
    }

    /** The same address, at this interface; as it was if it needs none. */
    static InetSocketAddress at(int scope, InetSocketAddress address) {
        if (scope == 0 || !isUnscoped(address)) {
            return address;
        }
        try {
            return new InetSocketAddress(
                    Inet6Address.getByAddress(null, address.getAddress().getAddress(), scope), address.getPort());
        } catch (UnknownHostException e) { // sixteen bytes they are
            throw new IllegalStateException(e);
        }
    }
}
