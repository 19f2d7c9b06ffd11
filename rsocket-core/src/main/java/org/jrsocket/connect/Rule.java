/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.jrsocket.connect.LocalNetworks.Prefix;

/**
 * A line of {@link Rules}.
 *
 * @param name the host's; null if the line names none
 * @param isUnknown whether the name could not be looked up; addresses it had before may count nevertheless
 * @param networks null matches every address
 * @param devices null if the rule names none
 */
record Rule(
        String where,
        Rules.Action action,
        String name,
        boolean isUnknown,
        List<Prefix> networks,
        int firstPort,
        int lastPort,
        Policy policy,
        Devices devices) {

    boolean matches(Rules.Action wanted, byte[] address, int port) {
        return action == wanted && port >= firstPort && port <= lastPort && contains(address);
    }

    private boolean contains(byte[] address) {
        if (networks == null) {
            return true;
        }
        for (Prefix network : networks) {
            if (network.contains(address)) {
                return true;
            }
        }
        return false;
    }

    boolean awaits(String host) {
        return isUnknown && name.equals(host);
    }

    Rule with(InetAddress[] addresses) {
        return new Rule(where, action, name, false, networksOf(addresses), firstPort, lastPort, policy, devices);
    }

    /** Returns the networks that each have one of these addresses. */
    static List<Prefix> networksOf(InetAddress[] addresses) {
        List<Prefix> networks = new ArrayList<>();
        for (InetAddress address : addresses) {
            byte[] bytes = address.getAddress();
            networks.add(new Prefix(bytes, bytes.length * 8));
        }
        return networks;
    }

    /** Says what becomes of the line while its name cannot be looked up. */
    String unknown() {
        String meaning;
        if (networks == null) {
            meaning = action == Rules.Action.ACCEPT ? "refuses everybody" : "leaves all addresses to TCP";
        } else {
            meaning = networks.isEmpty() ? "matches nothing" : "goes on with the addresses of before";
        }
        return where + ": " + name + " cannot be looked up, so this line " + meaning;
    }
}
