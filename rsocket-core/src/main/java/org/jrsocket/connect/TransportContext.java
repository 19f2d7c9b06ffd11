/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jrsocket.jfr.Events;
import org.jrsocket.stream.Access;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.verbs.DeviceInfo;
import org.jrsocket.verbs.VerbsUnavailableException;

/**
 * What all sockets of one process share: settings, rules, the RDMA transport, memory of peers, counts. Safe for use by
 * many threads.
 */
public final class TransportContext {

    private final Settings settings;
    private volatile Rules rules;
    private volatile Policy override; // null: none
    private final StreamFactory rdma;
    private final Counts counts = new Counts();
    private final DecisionLog log = new DecisionLog();
    private final LocalNetworks networks = new LocalNetworks();
    private final Connector connector;

    /** Over the transport of {@code holder}. */
    public TransportContext(Settings settings, Rules rules, TransportHolder holder) {
        this(settings, rules, (StreamFactory) holder);
        holder.limitClosing(settings.maxClosing());
        holder.limitMemory(settings.registeredMemory());
        holder.onPathLost(connector::lost);
        holder.onClose(connector::endWaiting);
    }

    TransportContext(Settings settings, Rules rules, StreamFactory rdma) {
        this(settings, rules, rdma, new Adapters());
    }

    TransportContext(Settings settings, Rules rules, StreamFactory rdma, Adapters adapters) {
        this.settings = settings;
        this.rules = rules;
        this.rdma = rdma;
        this.connector = new Connector(this, rdma, new Ways(adapters, settings));
    }

    /** With the rules file that the settings name, if they do. */
    public static TransportContext open(Settings settings, TransportHolder holder) throws ConfigurationException {
        return new TransportContext(
                settings, settings.rules() == null ? Rules.NONE : Rules.load(settings.rules()), holder);
    }

    public Settings settings() {
        return settings;
    }

    public Counts counts() {
        return counts;
    }

    public Connector connector() {
        return connector;
    }

    /** Takes note of a connection that a server took from its RDMA listener. */
    public void accepted(RdmaStream stream) {
        counts.acceptedRdma();
        log.rdma("accepted", stream.remoteAddress(), stream.deviceName());
        Events.opened(
                stream.localAddress(), stream.remoteAddress(), true, stream.deviceName(), null, stream.nanosOpen());
    }

    // ---- at run time ----

    /** What all new connections may use, whatever rules and settings say; null if those decide. */
    public Policy override() {
        return override;
    }

    /**
     * Has new connections and listeners use this, whatever rules and settings say, until it is null again. With TCP,
     * listeners that exist refuse requests over RDMA. Connections that exist stay as they are.
     */
    public void override(Policy policy) {
        override = policy;
    }

    /**
     * Reads the rules file again, for connections and listeners from now on.
     *
     * @return what it has, for people
     * @throws ConfigurationException it cannot be used, and the rules before stay; or the settings name none
     */
    public String reloadRules() throws ConfigurationException {
        if (settings.rules() == null) {
            throw new ConfigurationException("rules", "the settings name no file");
        }
        rules = Rules.load(settings.rules());
        return describeRules();
    }

    /** What is remembered of peers at this moment. */
    public List<PeerState> remembered() {
        return connector.ways().all().stream()
                .flatMap(way -> way.memory().states().stream().map(state -> state.from(way.from())))
                .toList();
    }

    /**
     * Forgets what is remembered of peers.
     *
     * @return how many there were
     */
    public int forgetRemembered() {
        return connector.ways().all().stream()
                .mapToInt(way -> way.memory().clear())
                .sum();
    }

    StreamFactory rdma() {
        return rdma;
    }

    DecisionLog log() {
        return log;
    }

    /** Whether some connection might get this policy. */
    public boolean mayUse(Policy policy) {
        return rules.mentions(policy) || unmatched() == policy;
    }

    /** Whether some connection might use RDMA, as rules and settings are; the override may say otherwise. */
    public boolean mayUseRdma() {
        return mayUse(Policy.AUTO) || mayUse(Policy.RDMA);
    }

    /** What to say once where there is no RDMA, for {@code reason}. */
    public String withoutRdma(VerbsUnavailableException reason) {
        String what = mayUse(Policy.RDMA)
                ? "no RDMA, and connections that must use it will fail: "
                : settings.expectsDevice() ? "TCP only until there is RDMA: " : "TCP only: ";
        return what + reason.getMessage();
    }

    /** Whether settings or rules name devices, of all that the host may have. */
    public boolean namesDevices() {
        return settings.devices().hasNames() || !rules.deviceNames().isEmpty();
    }

    /**
     * Devices that the settings or rules name, and that this host does not have.
     *
     * @return what to say of them, or null if there are none
     */
    public String withoutDevices(List<DeviceInfo> present) {
        Set<String> there = present.stream().map(DeviceInfo::name).collect(Collectors.toCollection(TreeSet::new));
        return Stream.of(
                        missing("devices", settings.devices().names(), there),
                        missing("rules", rules.deviceNames(), there))
                .filter(Objects::nonNull)
                .reduce((one, other) -> one + "; " + other)
                .orElse(null);
    }

    private static String missing(String where, Set<String> named, Set<String> there) {
        Set<String> missing = new TreeSet<>(named);
        missing.removeAll(there);
        return missing.isEmpty()
                ? null
                : where + ": this host has no RDMA device " + String.join(", ", missing) + ", only "
                        + String.join(", ", there);
    }

    /** Whether settings or rules may let a connection use this device. */
    public boolean mayUse(DeviceInfo device) {
        return rules.nameDevices() || !settings.devices().excludes(device);
    }

    /** The rules and where they are from, for people; null if the settings name no file. */
    public String describeRules() {
        return settings.rules() == null ? null : rules + " of " + settings.rules();
    }

    /** Who may connect over RDMA to this process's listener there, by the rules of the moment. */
    Access access(InetSocketAddress listener) {
        return new Access() {
            @Override
            public String refusal(InetAddress source, InetSocketAddress local, String device) {
                String why = null;
                if (override == Policy.TCP) {
                    why = "the override of the policy leaves everything to TCP";
                } else if (!devices(Rules.Action.BIND, listener).include(device, local.getAddress())) {
                    why = "the device " + device + " is none of those that this listener may use";
                } else if (!rules.admit(source, local, device)) {
                    why = "no rule admits it";
                }
                if (why != null) {
                    counts.refusedRdma();
                }
                return why;
            }

            @Override
            public void refused(long nanos) {
                counts.answeredRefused(nanos);
            }
        };
    }

    /** Which devices may be used for it; a rule goes before the setting. */
    Devices devices(Rules.Action action, InetSocketAddress address) {
        Devices ruled = rules.devices(action, address);
        return ruled == null ? settings.devices() : ruled;
    }

    /** Whether RDMA may be tried for this address if the policy leaves it open. */
    boolean isInScope(InetSocketAddress remote) {
        return settings.scope().includes(remote.getAddress(), networks)
                || rules.match(Rules.Action.CONNECT, remote) != null;
    }

    /** The settings in force, for people. Where the rules alone decide about RDMA, it says so: see {@link #policy}. */
    public String describeSettings() {
        Policy unmatched = unmatched();
        return unmatched == settings.policy() ? settings.toString() : settings + "; what no rule names uses TCP";
    }

    private Policy unmatched() {
        return rules == Rules.NONE || rules.onlyAccept() || settings.isGiven(Settings.POLICY)
                ? settings.policy()
                : Policy.TCP;
    }

    /**
     * What may carry a connection. Where a rules file is given and the policy is not, what no rule names uses TCP: so a
     * file written for the JDK's SDP keeps its meaning.
     *
     * @param address local for BIND, remote for CONNECT; resolved
     */
    public Policy policy(Rules.Action action, InetSocketAddress address) {
        if (action == Rules.Action.BIND && !settings.listens()) {
            return Policy.TCP;
        }
        Policy forced = override;
        if (forced != null) {
            return forced;
        }
        Policy matched = rules.match(action, address);
        return matched != null ? matched : unmatched();
    }
}
