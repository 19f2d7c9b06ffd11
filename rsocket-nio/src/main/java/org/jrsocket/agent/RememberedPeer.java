/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.PeerState;

/** What is remembered of one peer, at one moment, as open data. */
public final class RememberedPeer {

    private final PeerState state;

    RememberedPeer(PeerState state) {
        this.state = state;
    }

    public String getAddress() {
        return state.address().getHostAddress();
    }

    /** 0: all of them. */
    public int getPort() {
        return state.port();
    }

    /** Of this host: it is known of connections that leave from there. Empty: of those that leave as the routes say. */
    public String getFrom() {
        return state.from() == null ? "" : state.from().getHostAddress();
    }

    /** The name of a {@link PeerState.Kind}. */
    public String getKind() {
        return state.kind().name();
    }

    /** Connections use TCP for so long still, or until it is asked again; 0: they try RDMA. */
    public long getAvoidedMillis() {
        return TimeUnit.NANOSECONDS.toMillis(state.avoidedNanos() + 999_999);
    }

    /** How long its answers take; 0 if it has never answered. */
    public long getUsualMicros() {
        return TimeUnit.NANOSECONDS.toMicros(state.usualNanos());
    }
}
