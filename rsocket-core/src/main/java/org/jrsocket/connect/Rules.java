/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jrsocket.connect.LocalNetworks.Prefix;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The addresses and ports that may use RDMA. The first rule that matches decides. Host names are looked up once, when
 * the rules are made. If a name cannot be looked up, the addresses count that it had in the rules of before.
 * Immutable: once such a name has been looked up, {@linkplain #with others} take the place of these rules.
 */
public final class Rules {

    /** What a socket is about to do. */
    public enum Action {
        /** Listen on a local address. */
        BIND,
        /** Connect to a remote address. */
        CONNECT,
        /** Take an RDMA connection from a remote address, on a local port. */
        ACCEPT
    }

    /** No rules. */
    public static final Rules NONE = new Rules(List.of(), null);

    private static final Logger LOG = LoggerFactory.getLogger(Rules.class);

    /** Looks up names, as {@link InetAddress#getAllByName} does. */
    interface Resolver {
        InetAddress[] lookUp(String name) throws UnknownHostException;
    }

    /**
     * A rule: a line of the file.
     *
     * @param name the host's; null if the line names none
     * @param isUnknown whether the name could not be looked up; addresses it had before may count nevertheless
     * @param networks null matches every address
     * @param devices null if the rule names none
     */
    record Rule(
            String where,
            Action action,
            String name,
            boolean isUnknown,
            List<Prefix> networks,
            int firstPort,
            int lastPort,
            Policy policy,
            Devices devices) {

        boolean matches(Action wanted, byte[] address, int port) {
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
                meaning = action == Action.ACCEPT ? "refuses everybody" : "leaves all addresses to TCP";
            } else {
                meaning = networks.isEmpty() ? "matches nothing" : "goes on with the addresses of before";
            }
            return where + ": " + name + " cannot be looked up, so this line " + meaning;
        }
    }

    private final List<Rule> rules;
    private final Set<Action> actions;
    private final Resolver resolver; // null if there is nothing to look up

    /** @param resolver looks names up again; null if there are no rules */
    Rules(List<Rule> rules, Resolver resolver) {
        this.rules = List.copyOf(rules);
        this.actions = EnumSet.noneOf(Action.class);
        this.resolver = resolver;
        for (Rule rule : rules) {
            actions.add(rule.action());
        }
    }

    /** Returns the addresses that count for a name; null if there are none. */
    List<Prefix> networks(String name) {
        for (Rule rule : rules) {
            if (name.equals(rule.name())
                    && rule.networks() != null
                    && !rule.networks().isEmpty()) {
                return rule.networks();
            }
        }
        return null;
    }

    /** Returns the names that could not be looked up. */
    Set<String> unknownNames() {
        Set<String> names = new LinkedHashSet<>();
        for (Rule rule : rules) {
            if (rule.isUnknown()) {
                names.add(rule.name());
            }
        }
        return names;
    }

    /** Returns whether there are any. */
    boolean hasUnknownNames() {
        for (Rule rule : rules) {
            if (rule.isUnknown()) {
                return true;
            }
        }
        return false;
    }

    /** Looks up a name, as when the file was read. */
    InetAddress[] lookUp(String name) throws UnknownHostException {
        return resolver.lookUp(name);
    }

    /** Returns these rules with the addresses of a name that could not be looked up until now, and logs it. */
    Rules with(String name, InetAddress[] addresses) {
        List<Rule> now = new ArrayList<>();
        for (Rule rule : rules) {
            if (rule.awaits(name)) {
                LOG.info(
                        "{}: {} can be looked up now, so this line applies to {}", rule.where(), name, text(addresses));
                now.add(rule.with(addresses));
            } else {
                now.add(rule);
            }
        }
        return new Rules(now, resolver);
    }

    private static String text(InetAddress[] addresses) {
        List<String> texts = new ArrayList<>();
        for (InetAddress address : addresses) {
            texts.add(address.getHostAddress());
        }
        return String.join(", ", texts);
    }

    /** Returns whether a {@code bind} or {@code connect} rule has this policy, even if its name is unknown so far. */
    boolean mentions(Policy policy) {
        for (Rule rule : rules) {
            if (rule.action() != Action.ACCEPT && rule.policy() == policy) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether a rule names devices, which takes precedence over the setting. */
    boolean nameDevices() {
        for (Rule rule : rules) {
            if (rule.devices() != null) {
                return true;
            }
        }
        return false;
    }

    /** Returns the names of devices that occur in rules. */
    Set<String> deviceNames() {
        Set<String> names = new HashSet<>();
        for (Rule rule : rules) {
            if (rule.devices() != null) {
                names.addAll(rule.devices().names());
            }
        }
        return names;
    }

    /** Returns whether there are {@code accept} rules and no others. */
    boolean onlyAccept() {
        return actions.equals(EnumSet.of(Action.ACCEPT));
    }

    /**
     * Returns whether an RDMA connection from {@code source} may be taken at this address and device of ours. If there
     * is any {@code accept} rule, a source that no rule matches is not admitted.
     */
    boolean admit(InetAddress source, InetSocketAddress local, String device) {
        byte[] bytes = source.getAddress();
        for (Rule rule : rules) {
            if (rule.matches(Action.ACCEPT, bytes, local.getPort())
                    && (rule.devices() == null || rule.devices().include(device, local.getAddress()))) {
                return rule.policy() != Policy.TCP;
            }
        }
        return !actions.contains(Action.ACCEPT);
    }

    /** Returns the policy of the first matching rule, or null if none matches. */
    public Policy match(Action action, InetSocketAddress address) {
        Rule found = find(action, address);
        return found == null ? null : found.policy();
    }

    /** Returns the devices that the first matching rule names; null if it names none, or no rule matches. */
    Devices devices(Action action, InetSocketAddress address) {
        Rule found = find(action, address);
        return found == null ? null : found.devices();
    }

    private Rule find(Action action, InetSocketAddress address) {
        if (rules.isEmpty()) {
            return null;
        }
        byte[] bytes = address.getAddress().getAddress();
        // The wildcard is 0.0.0.0 to whoever writes a rule, and :: to a JVM whose sockets serve both families.
        byte[] same = action == Action.BIND && address.getAddress().isAnyLocalAddress()
                ? new byte[bytes.length == 4 ? 16 : 4]
                : bytes;
        for (Rule rule : rules) {
            if (rule.matches(action, bytes, address.getPort()) || rule.matches(action, same, address.getPort())) {
                return rule;
            }
        }
        return null;
    }

    @Override
    public String toString() {
        List<String> unknowns = new ArrayList<>();
        for (Rule rule : rules) {
            if (rule.isUnknown()) {
                unknowns.add(rule.unknown());
            }
        }
        return rules.size()
                + (rules.size() == 1 ? " rule" : " rules")
                + (unknowns.isEmpty() ? "" : " (" + String.join("; ", unknowns) + ")");
    }
}
