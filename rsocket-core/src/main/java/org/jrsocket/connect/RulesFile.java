/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jrsocket.connect.LocalNetworks.Prefix;
import org.jrsocket.connect.Rules.Rule;
import org.jrsocket.os.FileTrouble;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file of {@link Rules}, in the grammar of the JDK's old SDP configuration, with a policy word added:
 *
 * <pre>
 *   bind|connect  HOST|ADDRESS[/PREFIX]|*  PORT|FROM-TO|FROM-*|*  [auto|rdma|tcp [DEVICES]]
 *   accept        HOST|ADDRESS[/PREFIX]|*  PORT|FROM-TO|FROM-*|*  [auto|tcp [DEVICES]]
 * </pre>
 *
 * A line without a policy word means {@code auto}.
 */
public final class RulesFile {

    private static final Logger LOG = LoggerFactory.getLogger(Rules.class);

    /** What some editors put at the beginning of a UTF-8 file. */
    private static final String BYTE_ORDER_MARK = "\uFEFF";

    /** Letters, digits, hyphens and underscores between dots. A number as the last part would make it an address. */
    private static final Pattern HOST_NAME =
            Pattern.compile("([A-Za-z0-9_-]+\\.)*[A-Za-z0-9_-]*[A-Za-z_][A-Za-z0-9_-]*\\.?");

    /** The second word of a line; the components are those of {@link Rule}. */
    private record Hosts(String name, boolean isUnknown, List<Prefix> networks) {

        static final Hosts ALL = new Hosts(null, false, null);
    }

    /** A class, because the code of a method reference would be made at run time, at startup. */
    private static final class OfTheJdk implements Rules.Resolver {

        @Override
        public InetAddress[] lookUp(String name) throws UnknownHostException {
            return InetAddress.getAllByName(name);
        }
    }

    private final String file;
    private final Rules before;
    private final Rules.Resolver resolver;

    /**
     * @param file the file's name, for messages
     * @param before the rules until now, for names that cannot be looked up at the moment
     */
    private RulesFile(String file, Rules before, Rules.Resolver resolver) {
        this.file = file;
        this.before = before;
        this.resolver = resolver;
    }

    /** @throws ConfigurationException naming file, line and reason */
    public static Rules load(Path file) throws ConfigurationException {
        return load(file, Rules.NONE);
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
        return parse(file, lines, Rules.NONE, new OfTheJdk());
    }

    static Rules parse(String file, List<String> lines, Rules before, Rules.Resolver resolver)
            throws ConfigurationException {
        return new Rules(new RulesFile(file, before, resolver).rules(lines), resolver);
    }

    private List<Rule> rules(List<String> lines) throws ConfigurationException {
        List<Rule> rules = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (i == 0 && line.startsWith(BYTE_ORDER_MARK)) {
                line = line.substring(1).strip();
            }
            if (!line.isEmpty() && !line.startsWith("#")) {
                String where = file + " line " + (i + 1);
                try {
                    rules.add(rule(line.split("\\s+"), where));
                } catch (IllegalArgumentException e) {
                    throw new ConfigurationException(where, e.getMessage() + ": " + line);
                }
            }
        }
        return rules;
    }

    private Rule rule(String[] words, String where) {
        if (words.length < 3 || words.length > 5) {
            throw new IllegalArgumentException(
                    "expected \"bind|connect|accept address port [auto|rdma|tcp [devices]]\"");
        }
        Rules.Action action = SettingKey.parse(Rules.Action.class, words[0], "bind, connect, accept");
        int[] ports = ports(words[2]);
        Policy policy = words.length == 3 ? Policy.AUTO : SettingKey.parse(Policy.class, words[3], "auto, rdma, tcp");
        if (action == Rules.Action.ACCEPT && policy == Policy.RDMA) {
            throw new IllegalArgumentException("accept applies to RDMA connections only: use auto or tcp");
        }
        Devices devices = words.length == 5 ? Devices.parse(words[4]) : null;
        Hosts hosts = words[1].equals("*") ? Hosts.ALL : hosts(words[1], policy);
        Rule rule = new Rule(
                where, action, hosts.name, hosts.isUnknown, hosts.networks, ports[0], ports[1], policy, devices);
        if (rule.isUnknown()) {
            LOG.warn("{}", rule.unknown());
        }
        return rule;
    }

    private Hosts hosts(String word, Policy policy) {
        int slash = word.indexOf('/');
        String host = slash < 0 ? word : word.substring(0, slash);
        boolean literal = isLiteral(host);
        if (slash >= 0 && !literal) {
            throw new IllegalArgumentException("a prefix length needs a numeric address");
        }
        Devices.checkLiteral(host);
        if (!literal && !HOST_NAME.matcher(host).matches()) {
            throw new IllegalArgumentException("\"" + host + "\" is neither an address nor a host name");
        }
        try {
            InetAddress[] addresses = resolver.lookUp(host);
            List<Prefix> networks =
                    slash < 0 ? Rule.networksOf(addresses) : List.of(prefix(addresses[0], word.substring(slash + 1)));
            return new Hosts(literal ? null : host, false, networks);
        } catch (UnknownHostException e) {
            if (literal) {
                throw new IllegalArgumentException("not an address");
            }
            List<Prefix> networks = before.networks(host);
            // A name server that is down for a moment must neither keep a service from starting nor open it to anyone,
            // nor have RDMA carry what is to go over TCP.
            return new Hosts(host, true, networks == null && policy != Policy.TCP ? List.of() : networks);
        }
    }

    /** Returns whether the text can only be meant as an IPv4 or IPv6 address; the JDK never looks up such a text. */
    private static boolean isLiteral(String host) {
        return host.indexOf(':') >= 0 || host.matches("[0-9.]+");
    }

    private static Prefix prefix(InetAddress address, String length) {
        byte[] bytes = address.getAddress();
        return new Prefix(bytes, number(length, 0, bytes.length * 8, "prefix length"));
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
}
