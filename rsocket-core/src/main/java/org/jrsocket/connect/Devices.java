/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashSet;
import java.util.Set;
import org.jrsocket.verbs.DeviceInfo;

/**
 * The RDMA devices that connections may use: those that the routes lead to, all of them, or those that are named, by
 * the kernel's name for the device or by an address of this host. Immutable.
 */
final class Devices {

    static final String RANGE = "all, or names of devices and addresses of this host with + between them";

    /** The default: the kernel's routes choose, as for TCP. */
    static final Devices ROUTED = new Devices(Set.of(), Set.of());
    /** Every device that reaches the peer. */
    static final Devices ALL = new Devices(Set.of(), Set.of());

    private final Set<String> names;
    private final Set<InetAddress> addresses;

    private Devices(Set<String> names, Set<InetAddress> addresses) {
        this.names = Set.copyOf(names);
        this.addresses = Set.copyOf(addresses);
    }

    /** @throws IllegalArgumentException with the reason */
    static Devices parse(String text) {
        if (text.equalsIgnoreCase("all")) {
            return ALL;
        }
        Set<String> names = new HashSet<>();
        Set<InetAddress> addresses = new HashSet<>();
        for (String word : text.split("\\+", -1)) {
            if (word.indexOf(':') >= 0 || word.matches("[0-9.]+")) {
                addresses.add(literal(word));
            } else if (word.matches("[A-Za-z][A-Za-z0-9_.-]*")) {
                names.add(word);
            } else {
                throw new IllegalArgumentException("\"" + word + "\" is neither a device name nor an address");
            }
        }
        return new Devices(names, addresses);
    }

    /**
     * Rejects abbreviated IPv4 addresses: the JDK takes {@code 10.1} for 10.0.0.1, and {@code 192.168} for 192.0.0.168,
     * which is never what was meant.
     *
     * @throws IllegalArgumentException if an IPv4 address has fewer than four numbers
     */
    static void checkLiteral(String word) {
        if (word.matches("[0-9.]+") && !word.matches("[0-9]+(\\.[0-9]+){3}")) {
            throw new IllegalArgumentException(
                    "\"" + word + "\" is not an address: write all four numbers, such as 10.0.0.0/8");
        }
    }

    private static InetAddress literal(String word) {
        checkLiteral(word);
        try {
            return InetAddress.getByName(word); // no lookup: no name has this form
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("\"" + word + "\" is not an address");
        }
    }

    boolean hasNames() {
        return !names.isEmpty();
    }

    /** Returns the names of devices, without the addresses. */
    Set<String> names() {
        return names;
    }

    /** Returns whether no connection may use this device. Its addresses are not looked up. */
    boolean excludes(DeviceInfo device) {
        return hasNames() && addresses.isEmpty() && !names.contains(device.name());
    }

    /** Returns whether a connection may use this device at this address of this host. */
    boolean include(String device, InetAddress local) {
        return this == ROUTED || this == ALL || names.contains(device) || addresses.contains(local);
    }

    /** Returns whether the address itself is named. It then counts as reaching its peers, whatever network it is on. */
    boolean names(InetAddress local) {
        return addresses.contains(local);
    }
}
