/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jrsocket.os.FileTrouble;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The addresses and ports that may use RDMA, from a file in the grammar of the JDK's old SDP configuration, with a
 * policy word added:
 *
 * <pre>
 *   bind|connect  HOST|ADDRESS[/PREFIX]|*  PORT|FROM-TO|FROM-*|*  [auto|rdma|tcp [DEVICES]]
 *   accept        HOST|ADDRESS[/PREFIX]|*  PORT|FROM-TO|FROM-*|*  [auto|tcp [DEVICES]]
 * </pre>
 *
 * The first line that matches decides; a line without a policy word means {@code auto}. Host names are looked up once,
 * when the file is read. If a name cannot be looked up, the addresses count that it had when the file was read before.
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

    /** What some editors put at the beginning of a UTF-8 file. */
    private static final String BYTE_ORDER_MARK = "\uFEFF";

    /** Letters, digits, hyphens and underscores between dots. A number as the last part would make it an address. */
    private static final Pattern HOST_NAME =
            Pattern.compile("([A-Za-z0-9_-]+\\.)*[A-Za-z0-9_-]*[A-Za-z_][A-Za-z0-9_-]*\\.?");

    /** No rules. */
    public static final Rules NONE = new Rules(List.of(), null);

    private static final Logger LOG = LoggerFactory.getLogger(Rules.class);

    /** Looks up names, as {@link InetAddress#getAllByName} does. */
    interface Resolver {
        InetAddress[] lookUp(String name) throws UnknownHostException;
    }

    /** A class, because the code of a method reference would be made at run time, at startup. */
    private static final class OfTheJdk implements Resolver {

        @Override
        public InetAddress[] lookUp(String name) throws UnknownHostException {
            return InetAddress.getAllByName(name);
        }
    }

    /**
     * A line.
     *
     * @param name the host's; null if the line names none
     * @param isUnknown whether the name could not be looked up; addresses it had before may count nevertheless
     * @param networks null matches every address
     * @param devices null if the rule names none
     */
    private record Rule(
            String where,
            Action action,
            String name,
            boolean isUnknown,
            List<LocalNetworks.Prefix> networks,
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
            for (LocalNetworks.Prefix network : networks) {
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
            return new Rule(where, action, name, false, prefixes(addresses), firstPort, lastPort, policy, devices);
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

    private Rules(List<Rule> rules, Resolver resolver) {
        this.rules = List.copyOf(rules);
        this.actions = EnumSet.noneOf(Action.class);
        this.resolver = resolver;
        for (Rule rule : rules) {
            actions.add(rule.action);
        }
    }

    /** @throws ConfigurationException naming file, line and reason */
    public static Rules load(Path file) throws ConfigurationException {
        return load(file, NONE);
    }

    /**
     * Reads the rules again.
     *
     * @param before the rules until now, for names that cannot be looked up at the moment
     * @throws ConfigurationException naming file, line and reason
     */
    static Rules load(Path file, Rules before) throws ConfigurationException {
        try {
            return parse(file.toString(), Files.readAllLines(file), before, new OfTheJdk());
        } catch (NoSuchFileException | CharacterCodingException e) {
            throw new ConfigurationException(file.toString(), FileTrouble.reason(e));
        } catch (IOException e) {
            throw new ConfigurationException(file.toString(), "cannot be read: " + FileTrouble.reason(e));
        }
    }

    static Rules parse(String file, List<String> lines) throws ConfigurationException {
        return parse(file, lines, NONE, new OfTheJdk());
    }

    static Rules parse(String file, List<String> lines, Rules before, Resolver resolver) throws ConfigurationException {
        List<Rule> rules = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (i == 0 && line.startsWith(BYTE_ORDER_MARK)) {
                line = line.substring(1).strip();
            }
            if (!line.isEmpty() && !line.startsWith("#")) {
                String where = file + " line " + (i + 1);
                try {
                    rules.add(rule(line.split("\\s+"), where, before, resolver));
                } catch (IllegalArgumentException e) {
                    throw new ConfigurationException(where, e.getMessage() + ": " + line);
                }
            }
        }
        return new Rules(rules, resolver);
    }

    private static Rule rule(String[] words, String where, Rules before, Resolver resolver) {
        if (words.length < 3 || words.length > 5) {
            throw new IllegalArgumentException(
                    "expected \"bind|connect|accept address port [auto|rdma|tcp [devices]]\"");
        }
        Action action = SettingKey.parse(Action.class, words[0], "bind, connect, accept");
        int[] ports = ports(words[2]);
        Policy policy = words.length == 3 ? Policy.AUTO : SettingKey.parse(Policy.class, words[3], "auto, rdma, tcp");
        if (action == Action.ACCEPT && policy == Policy.RDMA) {
            throw new IllegalArgumentException("accept applies to RDMA connections only: use auto or tcp");
        }
        Devices devices = words.length == 5 ? Devices.parse(words[4]) : null;
        if (words[1].equals("*")) {
            return new Rule(where, action, null, false, null, ports[0], ports[1], policy, devices);
        }
        int slash = words[1].indexOf('/');
        String host = slash < 0 ? words[1] : words[1].substring(0, slash);
        boolean literal = isLiteral(host);
        if (slash >= 0 && !literal) {
            throw new IllegalArgumentException("a prefix length needs a numeric address");
        }
        Devices.checkLiteral(host);
        if (!literal && !HOST_NAME.matcher(host).matches()) {
            throw new IllegalArgumentException("\"" + host + "\" is neither an address nor a host name");
        }
        boolean unknown = false;
        List<LocalNetworks.Prefix> networks;
        try {
            InetAddress[] addresses = resolver.lookUp(host);
            networks = slash < 0 ? prefixes(addresses) : List.of(prefix(addresses[0], words[1].substring(slash + 1)));
        } catch (UnknownHostException e) {
            if (literal) {
                throw new IllegalArgumentException("not an address");
            }
            unknown = true;
            networks = before.networks(host);
            // A name server that is down for a moment must neither keep a service from starting nor open it to anyone,
            // nor have RDMA carry what is to go over TCP.
            if (networks == null && policy != Policy.TCP) {
                networks = List.of();
            }
        }
        Rule rule =
                new Rule(where, action, literal ? null : host, unknown, networks, ports[0], ports[1], policy, devices);
        if (unknown) {
            LOG.warn("{}", rule.unknown());
        }
        return rule;
    }

    private static List<LocalNetworks.Prefix> prefixes(InetAddress[] addresses) {
        List<LocalNetworks.Prefix> networks = new ArrayList<>();
        for (InetAddress address : addresses) {
            byte[] bytes = address.getAddress();
            networks.add(new LocalNetworks.Prefix(bytes, bytes.length * 8));
        }
        return networks;
    }

    private static LocalNetworks.Prefix prefix(InetAddress address, String length) {
        byte[] bytes = address.getAddress();
        return new LocalNetworks.Prefix(bytes, number(length, 0, bytes.length * 8, "prefix length"));
    }

    /** Returns the addresses that count for a name; null if there are none. */
    private List<LocalNetworks.Prefix> networks(String name) {
        for (Rule rule : rules) {
            if (name.equals(rule.name) && rule.networks != null && !rule.networks.isEmpty()) {
                return rule.networks;
            }
        }
        return null;
    }

    /** Returns whether the text can only be meant as an IPv4 or IPv6 address; the JDK never looks up such a text. */
    private static boolean isLiteral(String host) {
        return host.indexOf(':') >= 0 || host.matches("[0-9.]+");
    }

    private static int[] ports(String text) {
        if (text.equals("*")) {
            return new int[] {0, 65535};
        }
        int dash = text.indexOf('-');
        if (dash < 0) {
            int port = number(text, 0, 65535, "port");
            return new int[] {port, port};
        }
        int first = number(text.substring(0, dash), 0, 65535, "port");
        String end = text.substring(dash + 1);
        int last = end.equals("*") ? 65535 : number(end, 0, 65535, "port");
        if (last < first) {
            throw new IllegalArgumentException("the port range ends before it begins");
        }
        return new int[] {first, last};
    }

    private static int number(String text, int min, int max, String what) {
        if (!text.matches("[0-9]{1,5}") || Integer.parseInt(text) < min || Integer.parseInt(text) > max) {
            throw new IllegalArgumentException(what + " is not a number from " + min + " to " + max);
        }
        return Integer.parseInt(text);
    }

    /** Returns the names that could not be looked up. */
    Set<String> unknownNames() {
        Set<String> names = new LinkedHashSet<>();
        for (Rule rule : rules) {
            if (rule.isUnknown) {
                names.add(rule.name);
            }
        }
        return names;
    }

    /** Returns whether there are any. */
    boolean hasUnknownNames() {
        for (Rule rule : rules) {
            if (rule.isUnknown) {
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
                LOG.info("{}: {} can be looked up now, so this line applies to {}", rule.where, name, text(addresses));
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
            if (rule.action != Action.ACCEPT && rule.policy == policy) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether a rule names devices, which takes precedence over the setting. */
    boolean nameDevices() {
        for (Rule rule : rules) {
            if (rule.devices != null) {
                return true;
            }
        }
        return false;
    }

    /** Returns the names of devices that occur in rules. */
    Set<String> deviceNames() {
        Set<String> names = new HashSet<>();
        for (Rule rule : rules) {
            if (rule.devices != null) {
                names.addAll(rule.devices.names());
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
                    && (rule.devices == null || rule.devices.include(device, local.getAddress()))) {
                return rule.policy != Policy.TCP;
            }
        }
        return !actions.contains(Action.ACCEPT);
    }

    /** Returns the policy of the first matching rule, or null if none matches. */
    public Policy match(Action action, InetSocketAddress address) {
        Rule found = find(action, address);
        return found == null ? null : found.policy;
    }

    /** Returns the devices that the first matching rule names; null if it names none, or no rule matches. */
    Devices devices(Action action, InetSocketAddress address) {
        Rule found = find(action, address);
        return found == null ? null : found.devices;
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
            if (rule.isUnknown) {
                unknowns.add(rule.unknown());
            }
        }
        return rules.size()
                + (rules.size() == 1 ? " rule" : " rules")
                + (unknowns.isEmpty() ? "" : " (" + String.join("; ", unknowns) + ")");
    }
}
