/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.PeerState;

/** What is remembered of one peer at one moment, as open data. */
public final class RememberedPeer {

    private final PeerState state;

    RememberedPeer(PeerState state) {
        this.state = state;
    }

    /** Returns the numeric address of the peer. */
    public String getAddress() {
        return state.address().getHostAddress();
    }

    /** Returns the port; 0 means all ports. */
    public int getPort() {
        return state.port();
    }

    /** Returns the local address of the connections that this is known of; empty for those that follow the routes. */
    public String getFrom() {
        return state.from() == null ? "" : state.from().getHostAddress();
    }

    /** Returns the name of a {@link PeerState.Kind}. */
    public String getKind() {
        return state.kind().name();
    }

    /** Returns how long connections still use TCP, unless the peer is asked again before; 0 if they try RDMA. */
    public long getAvoidedMillis() {
        return TimeUnit.NANOSECONDS.toMillis(state.avoidedNanos() + 999_999);
    }

    /** Returns how long the peer's answers take; 0 if it has never answered. */
    public long getUsualMicros() {
        return TimeUnit.NANOSECONDS.toMicros(state.usualNanos());
    }
}
