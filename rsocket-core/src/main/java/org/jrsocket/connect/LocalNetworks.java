/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.InetAddress;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.security.AccessController;
import java.security.PrivilegedActionException;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The networks that this host is on, as its interfaces say. Read when somebody asks and then at most once in ten
 * seconds, by one thread; the others take what was there before. Safe for use by many threads.
 */
final class LocalNetworks {

    private static final Logger LOG = LoggerFactory.getLogger(LocalNetworks.class);

    static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** How the interfaces' networks are read. */
    interface Source {
        List<Prefix> read() throws SocketException;
    }

    private static final class Interfaces implements Source {

        @Override
        public List<Prefix> read() throws SocketException {
            return ofInterfaces();
        }
    }

    /** A network: an address in it, and how many bits of it they all have. */
    record Prefix(byte[] network, int length) {

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

    private record Reading(List<Prefix> prefixes, long at) {}

    private final Source source;
    private final LongSupplier clock;
    private volatile Reading reading;
    private final AtomicBoolean reads = new AtomicBoolean(); // somebody, again

    LocalNetworks() {
        this(new Interfaces(), NanoClock.SYSTEM);
    }

    /** @param clock nanoseconds, as {@link System#nanoTime} */
    LocalNetworks(Source source, LongSupplier clock) {
        this.source = source;
        this.clock = clock;
    }

    boolean include(InetAddress address) {
        byte[] bytes = address.getAddress();
        for (Prefix prefix : prefixes()) {
            if (prefix.contains(bytes)) {
                return true;
            }
        }
        return false;
    }

    private List<Prefix> prefixes() {
        Reading last = reading;
        long now = clock.getAsLong();
        if (last != null && now - last.at < FRESH_NANOS) {
            return last.prefixes;
        }
        if (last == null) { // nobody has anything yet
            return read(now, List.of());
        }
        if (!reads.compareAndSet(false, true)) {
            return last.prefixes;
        }
        try {
            return read(now, last.prefixes);
        } finally {
            reads.set(false);
        }
    }

    private List<Prefix> read(long now, List<Prefix> before) {
        List<Prefix> prefixes = before;
        try {
            prefixes = source.read();
        } catch (SocketException e) {
            LOG.debug("the networks of this host cannot be read", e);
        }
        reading = new Reading(prefixes, now);
        return prefixes;
    }

    /** With the rights of this project, which an application under a security manager need not have. */
    @SuppressWarnings("removal") // of JDK 17
    private static List<Prefix> ofInterfaces() throws SocketException {
        try {
            return AccessController.doPrivileged((PrivilegedExceptionAction<List<Prefix>>) () -> {
                List<Prefix> prefixes = new ArrayList<>();
                Enumeration<NetworkInterface> all = NetworkInterface.getNetworkInterfaces();
                while (all != null && all.hasMoreElements()) {
                    for (InterfaceAddress each : all.nextElement().getInterfaceAddresses()) {
                        byte[] network = each.getAddress().getAddress();
                        int length = each.getNetworkPrefixLength();
                        if (length > 0 && length <= network.length * 8) {
                            prefixes.add(new Prefix(network, length));
                        }
                    }
                }
                return List.copyOf(prefixes);
            });
        } catch (PrivilegedActionException e) {
            throw (SocketException) e.getException();
        }
    }
}
