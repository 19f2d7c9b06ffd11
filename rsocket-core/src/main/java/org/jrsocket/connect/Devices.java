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
 * Which RDMA devices connections may use: whatever the routes lead to, all, or those that are named, by the kernel's
 * name for the device or by an address of this host. Immutable.
 */
final class Devices {

    static final String RANGE = "all, or names of devices and addresses of this host with + between them";

    /** What nobody has said anything about: the kernel's routes choose, as for TCP. */
    static final Devices ROUTED = new Devices(Set.of(), Set.of());
    /** Each that reaches the peer. */
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
                throw new IllegalArgumentException("\"" + word + "\" is no name of a device and no address");
            }
        }
        return new Devices(names, addresses);
    }

    /**
     * The JDK takes {@code 10.1} for 10.0.0.1, and {@code 192.168} for 192.0.0.168, which nobody means who writes it.
     *
     * @throws IllegalArgumentException an IPv4 address has fewer than four numbers
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
            return InetAddress.getByName(word); // looks nothing up: no name has this form
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("\"" + word + "\" is not an address");
        }
    }

    boolean hasNames() {
        return !names.isEmpty();
    }

    /** Names of devices; addresses are not among them. */
    Set<String> names() {
        return names;
    }

    /** Whether no connection may use this device. What addresses are on it is not asked. */
    boolean excludes(DeviceInfo device) {
        return hasNames() && addresses.isEmpty() && !names.contains(device.name());
    }

    /** Whether a connection may use this device at this address of this host. */
    boolean include(String device, InetAddress local) {
        return this == ROUTED || this == ALL || names.contains(device) || addresses.contains(local);
    }

    /** Whether the address itself is named: then it reaches the peers that it is for, whatever networks it is on. */
    boolean names(InetAddress local) {
        return addresses.contains(local);
    }
}
