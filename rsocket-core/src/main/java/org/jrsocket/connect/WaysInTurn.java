/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import org.jrsocket.connect.Ways.Way;

/**
 * The ways of one connection in the order in which it tries them. A way that is not worth trying is skipped: it comes
 * last if the policy requires RDMA, and is not tried otherwise. Used by one thread at a time.
 */
final class WaysInTurn {

    private final InetSocketAddress remote;
    private final boolean insists;
    private final Consumer<Way> onSkipped;
    private final Deque<Way> fresh;
    private final Deque<Way> skipped = new ArrayDeque<>(2);
    private TcpReason objection;

    /**
     * @param all the ways, the one whose turn it is first; not empty
     * @param insists whether the policy requires RDMA
     * @param onSkipped is told of each way that is not worth trying
     */
    WaysInTurn(List<Way> all, InetSocketAddress remote, boolean insists, Consumer<Way> onSkipped) {
        this.remote = remote;
        this.insists = insists;
        this.onSkipped = onSkipped;
        this.fresh = new ArrayDeque<>(all);
        if (insists && all.size() == 1) { // nothing to choose
            skipped.add(fresh.remove());
        }
    }

    /** Returns the next way to try, or null if there is none. */
    Way next() {
        while (!fresh.isEmpty()) {
            Way way = fresh.remove();
            TcpReason why = way.memory().objection(remote);
            if (why == null) {
                return way;
            }
            objection = objection == null ? why : objection;
            skipped.add(way);
            onSkipped.accept(way);
        }
        return insists ? skipped.poll() : null;
    }

    /** Returns how many there may still be. */
    int left() {
        return fresh.size() + (insists ? skipped.size() : 0);
    }

    /** Returns why the first one that was skipped is not worth trying, or null. */
    TcpReason objection() {
        return objection;
    }

    /** Returns the ways that were not worth trying and were not tried. */
    Iterable<Way> skipped() {
        return skipped;
    }
}
