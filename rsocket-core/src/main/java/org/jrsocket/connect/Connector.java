/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import org.jrsocket.connect.Ways.Way;
import org.jrsocket.stream.PendingConnect;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.threads.ServiceLoop;
import org.jrsocket.verbs.VerbsUnavailableException;

/** Decides whether an outgoing connection tries RDMA, and learns from the outcome. Safe for use by many threads. */
public final class Connector {

    /** What rules and settings say about a connection at the moment. */
    interface Choices {

        Policy policy(InetSocketAddress remote);

        /** Returns whether RDMA may be tried for this address if the policy leaves it open. */
        boolean isInScope(InetSocketAddress remote);

        Devices devices(InetSocketAddress remote);
    }

    private final Choices choices;
    private final StreamFactory rdma;
    private final Ways ways;
    private final StreamConfig ofProbes;
    private final Outcomes outcomes;

    Connector(Choices choices, StreamFactory rdma, Ways ways, StreamConfig ofProbes, Outcomes outcomes) {
        this.choices = choices;
        this.rdma = rdma;
        this.ways = ways;
        this.ofProbes = ofProbes;
        this.outcomes = outcomes;
    }

    /**
     * Begins a connection as the policy says. When this returns, the attempt over RDMA is under way, if there is one.
     *
     * @param local where the socket is bound, or null
     * @param remote resolved, not a wildcard
     * @param timeoutNanos the caller's time for the whole connect, 0 for no limit
     * @param tcp what connects if RDMA does not
     * @throws ConnectException if the policy requires RDMA and there is none
     */
    public OutgoingConnection connect(
            InetSocketAddress local,
            InetSocketAddress remote,
            StreamConfig config,
            long timeoutNanos,
            OutgoingConnection.Tcp tcp)
            throws ConnectException {
        return new OutgoingConnection(attempt(local, remote, config, timeoutNanos), timeoutNanos, tcp);
    }

    /** Begins a connection through a SOCKS proxy, which speaks TCP. The arguments are those of {@link #connect}. */
    public OutgoingConnection connectThroughProxy(
            InetSocketAddress remote, long timeoutNanos, OutgoingConnection.Tcp tcp) {
        return new OutgoingConnection(useTcp(remote, ways.routed(), TcpReason.PROXY, null), timeoutNanos, tcp);
    }

    /**
     * Starts an attempt over RDMA, if this connection may use it and it is worth trying. If TCP may follow, the attempt
     * takes at most half of the caller's time. The arguments are those of {@link #connect}.
     *
     * @return the attempt, to be awaited unless it says that TCP is to be used at once
     * @throws ConnectException if the policy requires RDMA and there is none
     */
    public ConnectAttempt attempt(
            InetSocketAddress local, InetSocketAddress remote, StreamConfig config, long timeoutNanos)
            throws ConnectException {
        Policy policy = choices.policy(remote);
        if (policy == Policy.TCP) {
            return useTcp(remote, ways.routed(), TcpReason.POLICY, null);
        }
        if (policy == Policy.AUTO && !choices.isInScope(remote)) {
            return useTcp(remote, ways.routed(), TcpReason.SCOPE, null);
        }
        Devices devices = choices.devices(remote);
        List<Way> all = ways.to(local, remote.getAddress(), devices);
        WaysInTurn turns = new WaysInTurn(all, remote, policy == Policy.RDMA, skipped -> probeInTime(remote, skipped));
        Way way = turns.next();
        if (way == null) {
            return useTcp(remote, all.get(0), turns, turns.objection(), null);
        }
        long limit = policy == Policy.RDMA || timeoutNanos == 0 ? timeoutNanos : Math.max(1, timeoutNanos / 2);
        ConnectAttempt attempt = new ConnectAttempt(
                outcomes,
                remote,
                turns,
                new Maker(ofPeersFamily(local, remote), remote, config, devices),
                policy,
                limit);
        try {
            attempt.start(way);
            return attempt;
        } catch (VerbsUnavailableException e) {
            if (policy == Policy.RDMA) {
                throw new RdmaConnectException(RdmaConnectException.Reason.NO_DEVICE, e.getMessage(), e);
            }
            return useTcp(remote, way, TcpReason.UNAVAILABLE, e);
        }
    }

    /** Starts a connection over each way that is tried. */
    private final class Maker implements WayAttempt.Maker {
        private final InetSocketAddress local;
        private final InetSocketAddress remote;
        private final StreamConfig config;
        private final Devices devices;

        Maker(InetSocketAddress local, InetSocketAddress remote, StreamConfig config, Devices devices) {
            this.local = local;
            this.remote = remote;
            this.config = config;
            this.devices = devices;
        }

        @Override
        public PendingConnect connect(Way way, PendingConnect.Observer observer) throws VerbsUnavailableException {
            return rdma.connect(way.bind(local), remote, config, observer);
        }

        @Override
        public ServiceLoop service() throws VerbsUnavailableException {
            return rdma.service();
        }

        @Override
        public void takeCmEvents() {
            rdma.takeCmEvents();
        }

        @Override
        public boolean mayUse(Way way, String device, InetAddress from) {
            return way.from() != null || devices.include(device, from);
        }
    }

    /**
     * Probes a silent host in the background when its pause is over, if a connection to it was wanted in the meantime,
     * so that no connection waits for the answer. Hosts that only know plain rsocket are not probed, because a program
     * there might see a connection that ends at once; a connection that is really wanted asks those.
     */
    private void probeInTime(InetSocketAddress remote, Way way) {
        long nanos = way.memory().arrangeProbe(remote);
        if (nanos >= 0) {
            boolean scheduled = false;
            try {
                rdma.service().schedule(() -> probe(remote, way), nanos);
                scheduled = true;
            } catch (VerbsUnavailableException e) {
                // handled below
            } finally {
                if (!scheduled) { // whatever failed, another connection has to arrange for a probe
                    way.memory().beginProbe(remote); // counts as one more silence
                }
            }
        }
    }

    /** Sends a probe if it is still needed. Runs on the service thread. */
    private void probe(InetSocketAddress remote, Way way) {
        if (way.memory().beginProbe(remote)) {
            try {
                rdma.probe(way.bind(null), remote, ofProbes, new Probe(remote, way));
            } catch (VerbsUnavailableException e) {
                outcomes.notProbed(remote, e);
            }
        }
    }

    /** Learns how the peer answers a probe. Runs on the service thread. */
    private static final class Probe implements PendingConnect.Observer {
        private final InetSocketAddress remote;
        private final Way way;
        private long asked;

        Probe(InetSocketAddress remote, Way way) {
            this.remote = remote;
            this.way = way;
        }

        @Override
        public void asked() {
            asked = System.nanoTime();
        }

        @Override
        public void answered(PendingConnect.Answer answer) {
            way.answered(remote, answer, System.nanoTime() - asked);
        }
    }

    /**
     * Returns the local address. A wildcard becomes that of the peer's family: RDMA needs that, while the JDK's IPv6
     * sockets serve both families.
     */
    private static InetSocketAddress ofPeersFamily(InetSocketAddress local, InetSocketAddress remote) {
        if (local == null || !local.getAddress().isAnyLocalAddress()) {
            return local;
        }
        try {
            InetAddress any =
                    InetAddress.getByAddress(new byte[remote.getAddress().getAddress().length]);
            return new InetSocketAddress(any, local.getPort());
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    /** Records a connection that TCP carries without an attempt over RDMA. */
    private ConnectAttempt useTcp(InetSocketAddress remote, Way way, TcpReason reason, Exception detail) {
        return useTcp(remote, way, null, reason, detail);
    }

    /** @param turns none of which is worth trying, or null */
    private ConnectAttempt useTcp(
            InetSocketAddress remote, Way way, WaysInTurn turns, TcpReason reason, Exception detail) {
        outcomes.notTried(remote, reason, detail);
        return new ConnectAttempt(outcomes, remote, turns, way.memory(), reason, detail);
    }

    Ways ways() {
        return ways;
    }

    /** Ends the wait of connections that depend on another one's outcome, because there is no RDMA any more. */
    void endWaiting() {
        ways.all().forEach(way -> way.firstContacts().end());
    }

    /** Records that a connection was lost on the path to its peer. */
    void lost(InetSocketAddress local, InetSocketAddress remote) {
        ways.of(local.getAddress()).memory().lost(remote);
    }
}
