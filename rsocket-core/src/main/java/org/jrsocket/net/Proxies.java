/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.URI;
import java.net.URISyntaxException;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.Iterator;

/**
 * Finds out whether the JDK would connect a plain {@code new Socket()} through a SOCKS proxy, as
 * {@code -DsocksProxyHost} and ProxySelectors say.
 */
final class Proxies {

    private Proxies() {}

    /**
     * Returns whether a SOCKS proxy may be used. True if in doubt, because the JDK's own SOCKS code then decides again.
     */
    static boolean mayUseSocks(InetSocketAddress remote) {
        ProxySelector selector = selector();
        if (selector == null) {
            return false;
        }
        String host = remote.getHostString();
        if (remote.getAddress() instanceof Inet6Address && host.indexOf(':') >= 0 && !host.startsWith("[")) {
            host = "[" + host + "]";
        }
        try {
            // Made of one string, as the JDK does it: this accepts host names with an underscore, which the constructor
            // with seven arguments refuses.
            URI uri = new URI("socket://" + host + ":" + remote.getPort());
            Iterator<Proxy> proxies = selector.select(uri).iterator();
            if (!proxies.hasNext()) {
                return false;
            }
            Proxy first = proxies.next();
            return first != null && first.type() == Proxy.Type.SOCKS;
        } catch (URISyntaxException | RuntimeException e) {
            return true;
        }
    }

    @SuppressWarnings("removal") // programs with a security manager exist, on JDK 17
    private static ProxySelector selector() {
        return AccessController.doPrivileged((PrivilegedAction<ProxySelector>) ProxySelector::getDefault);
    }
}
