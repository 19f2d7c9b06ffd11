/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.InetAddress;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The networks that this host is on, read from its interfaces at most once every ten seconds (see {@link Refreshed}).
 * Safe for use by many threads.
 */
final class LocalNetworks {

    static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final class OfThisHost implements Refreshed.Source<Prefix> {

        @Override
        public List<Prefix> read() throws SocketException {
            List<Prefix> prefixes = new ArrayList<>();
            Enumeration<NetworkInterface> all = NetworkInterface.getNetworkInterfaces();
            while (all != null && all.hasMoreElements()) {
                for (InterfaceAddress each : all.nextElement().getInterfaceAddresses()) {
                    byte[] network = each.getAddress().getAddress();
                    int length = each.getNetworkPrefixLength();
                    if (Prefix.isOne(network, length)) {
                        prefixes.add(new Prefix(network, length));
                    }
                }
            }
            return prefixes;
        }
    }

    /** A network: one of its addresses, and how many leading bits all of them share. */
    record Prefix(byte[] network, int length) {

        /** Returns whether an interface's address and its prefix length make a network. */
        static boolean isOne(byte[] network, int length) {
            return length > 0 && length <= network.length * 8;
        }

        boolean contains(byte[] address) {
            if (address.length != network.length) {
                return false;
            }
            for (int bit = 0; bit < length; bit += 8) {
                int mask = length - bit >= 8 ? 0xff : 0xff << 8 - (length - bit) & 0xff;
                if (((address[bit / 8] ^ network[bit / 8]) & mask) != 0) {
                    return false;
                }
            }
            return true;
        }
    }

    private final Refreshed<Prefix> prefixes;

    LocalNetworks() {
        this(new OfThisHost(), NanoClock.SYSTEM);
    }

    /** @param clock nanoseconds, as {@link System#nanoTime} */
    LocalNetworks(Refreshed.Source<Prefix> source, LongSupplier clock) {
        prefixes = new Refreshed<>("the networks of this host", source, FRESH_NANOS, clock);
    }

    boolean include(InetAddress address) {
        byte[] bytes = address.getAddress();
        for (Prefix prefix : prefixes.get()) {
            if (prefix.contains(bytes)) {
                return true;
            }
        }
        return false;
    }
}
