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
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
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
    private volatile Rules rules; // written under this
    private final Supplier<LateNames.Background> background; // null: a thread of our own
    private LateNames lateNames; // of these rules; null if all names are known; guarded by this, as the next
    private boolean over;
    private final Set<Runnable> atEnd = ConcurrentHashMap.newKeySet();
    private volatile Policy override; // null: none
    private final StreamFactory rdma;
    private final Counts counts = new Counts();
    private final DecisionLog log = new DecisionLog();
    private final LocalNetworks networks = new LocalNetworks();
    private final Connector connector;

    /** Makes a context over the transport of {@code holder}. */
    public TransportContext(Settings settings, Rules rules, TransportHolder holder) {
        this(settings, rules, holder, (Supplier<LateNames.Background>) null);
    }

    /**
     * Makes a context for tests.
     *
     * @param background where names of some rules are looked up again; null: on a thread of our own
     */
    TransportContext(
            Settings settings, Rules rules, TransportHolder holder, Supplier<LateNames.Background> background) {
        this(settings, rules, holder, new Adapters(), background);
        holder.limitClosing(settings.maxClosing());
        holder.limitMemory(settings.registeredMemory());
        holder.onPathLost(connector::lost);
        holder.onClose(this::end);
    }

    TransportContext(Settings settings, Rules rules, StreamFactory rdma) {
        this(settings, rules, rdma, new Adapters());
    }

    TransportContext(Settings settings, Rules rules, StreamFactory rdma, Adapters adapters) {
        this(settings, rules, rdma, adapters, null);
    }

    private TransportContext(
            Settings settings,
            Rules rules,
            StreamFactory rdma,
            Adapters adapters,
            Supplier<LateNames.Background> background) {
        this.settings = settings;
        this.rdma = rdma;
        this.connector = new Connector(
                new OfTheMoment(),
                rdma,
                new Ways(adapters, settings),
                settings.streamConfig(),
                new Outcomes(counts, log));
        this.background = background;
        use(rules);
    }

    /** Makes a context with the rules file that the settings name, if they name one. */
    public static TransportContext open(Settings settings, TransportHolder holder) throws ConfigurationException {
        return new TransportContext(
                settings, settings.rules() == null ? Rules.NONE : RulesFile.load(settings.rules()), holder);
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

    /** Records a connection that a server took from its RDMA listener. */
    public void accepted(RdmaStream stream) {
        counts.acceptedRdma();
        log.rdma("accepted", stream.remoteAddress(), stream.deviceName());
        Events.opened(
                stream.localAddress(), stream.remoteAddress(), true, stream.deviceName(), null, stream.nanosOpen());
    }

    // ---- at run time ----

    /** Returns the policy of all new connections, whatever rules and settings say; null if those decide. */
    public Policy override() {
        return override;
    }

    /**
     * Makes new connections and listeners use this policy, whatever rules and settings say, until it is null again.
     * With TCP, existing listeners refuse requests over RDMA. Existing connections stay as they are.
     */
    public void override(Policy policy) {
        override = policy;
    }

    /**
     * Reads the rules file again, for connections and listeners from now on.
     *
     * @return a readable description of the rules
     * @throws ConfigurationException if the file cannot be used, and the previous rules stay; or if the settings name
     *     none
     */
    public String reloadRules() throws ConfigurationException {
        if (settings.rules() == null) {
            throw new ConfigurationException("rules", "no rules file is set");
        }
        use(RulesFile.load(settings.rules(), rules));
        return describeRules();
    }

    /** Puts rules in force, and has names of theirs looked up again that could not be. */
    synchronized void use(Rules now) {
        endLookingUp();
        rules = now;
        if (now.hasUnknownNames() && !over) {
            lateNames =
                    new LateNames(now, background == null ? new LateNames.OwnThread() : background.get(), this::found);
            lateNames.start();
        }
    }

    /** Puts the addresses of a name in force, unless the rules were replaced while it was looked up. */
    private synchronized void found(LateNames by, String name, InetAddress[] addresses) {
        if (lateNames == by) {
            rules = rules.with(name, addresses);
            if (!rules.hasUnknownNames()) {
                endLookingUp();
            }
        }
    }

    /** Called with the lock held. */
    private void endLookingUp() {
        if (lateNames != null) {
            lateNames.end();
            lateNames = null;
        }
    }

    /** Ends what goes on in the background, because there is no RDMA any more. */
    private void end() {
        connector.endWaiting();
        synchronized (this) {
            over = true;
            endLookingUp();
        }
        atEnd.forEach(Runnable::run);
    }

    /** Has an action run, until it is removed, when there is no RDMA and no service thread any more. */
    void atEnd(Runnable action) {
        atEnd.add(action);
    }

    void notAtEnd(Runnable action) {
        atEnd.remove(action);
    }

    /** Returns what is remembered about peers at this moment. */
    public List<PeerState> remembered() {
        return connector.ways().all().stream()
                .flatMap(way -> way.memory().states().stream().map(state -> state.from(way.from())))
                .toList();
    }

    /**
     * Forgets what is remembered about peers.
     *
     * @return how many there were
     */
    public int forgetRemembered() {
        return connector.ways().all().stream()
                .mapToInt(way -> way.memory().clear())
                .sum();
    }

    /** For tests. */
    Rules rules() {
        return rules;
    }

    StreamFactory rdma() {
        return rdma;
    }

    DecisionLog log() {
        return log;
    }

    /** Returns whether a connection might get this policy. */
    public boolean mayUse(Policy policy) {
        return rules.mentions(policy) || unmatched() == policy;
    }

    /**
     * Returns whether a connection might use RDMA by the present rules and settings; the override may say otherwise.
     */
    public boolean mayUseRdma() {
        return mayUse(Policy.AUTO) || mayUse(Policy.RDMA);
    }

    /** Returns what to say, once, if there is no RDMA, for {@code reason}. */
    public String withoutRdma(VerbsUnavailableException reason) {
        String what = mayUse(Policy.RDMA)
                ? "no RDMA, and connections that must use it will fail: "
                : expectsRdma(reason) ? "TCP only until there is RDMA: " : "TCP only: ";
        return what + reason.getMessage();
    }

    /** Returns whether RDMA that is missing for {@code reason} is expected to come while this process runs. */
    public boolean expectsRdma(VerbsUnavailableException reason) {
        return settings.expectsDevice() && reason.reason() != VerbsUnavailableException.Reason.PLATFORM;
    }

    /** Returns whether settings or rules name some of the devices that the host may have. */
    public boolean namesDevices() {
        return settings.devices().hasNames() || !rules.deviceNames().isEmpty();
    }

    /**
     * Describes the devices that the settings or rules name and that this host does not have.
     *
     * @return what to say about them, or null if there are none
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

    /** Returns whether settings or rules may let a connection use this device. */
    public boolean mayUse(DeviceInfo device) {
        return rules.nameDevices() || !settings.devices().excludes(device);
    }

    /** Returns a readable description of the rules and where they are from; null if the settings name no file. */
    public String describeRules() {
        return settings.rules() == null ? null : rules + " of " + settings.rules();
    }

    /** Returns who may connect over RDMA to this process's listener at an address, by the rules of the moment. */
    Access access(InetSocketAddress listener) {
        return new Access() {
            @Override
            public String refusal(InetAddress source, InetSocketAddress local, String device) {
                String why = null;
                if (override == Policy.TCP) {
                    why = "the policy override leaves everything to TCP";
                } else if (!devices(Rules.Action.BIND, listener).include(device, local.getAddress())) {
                    why = "this listener may not use the device " + device;
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

    /** Returns which devices may be used for an address; a rule takes precedence over the setting. */
    Devices devices(Rules.Action action, InetSocketAddress address) {
        Devices ruled = rules.devices(action, address);
        return ruled == null ? settings.devices() : ruled;
    }

    /**
     * Returns a readable description of the settings in force. If the rules alone decide about RDMA, it says so: see
     * {@link #policy}.
     */
    public String describeSettings() {
        Policy unmatched = unmatched();
        return unmatched == settings.policy()
                ? settings.toString()
                : settings + "; addresses that no rule names use TCP";
    }

    private Policy unmatched() {
        return rules == Rules.NONE || rules.onlyAccept() || settings.isGiven(Settings.POLICY)
                ? settings.policy()
                : Policy.TCP;
    }

    /**
     * Returns what may carry a connection. If a rules file is given but no policy, addresses that no rule names use
     * TCP, so that a file written for the JDK's SDP keeps its meaning.
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

    /** What the connector asks. */
    private final class OfTheMoment implements Connector.Choices {

        @Override
        public Policy policy(InetSocketAddress remote) {
            return TransportContext.this.policy(Rules.Action.CONNECT, remote);
        }

        @Override
        public boolean isInScope(InetSocketAddress remote) {
            return settings.scope().includes(remote.getAddress(), networks)
                    || rules.match(Rules.Action.CONNECT, remote) != null;
        }

        @Override
        public Devices devices(InetSocketAddress remote) {
            return TransportContext.this.devices(Rules.Action.CONNECT, remote);
        }
    }
}
