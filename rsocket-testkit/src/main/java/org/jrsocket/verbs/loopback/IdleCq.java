/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jrsocket.verbs.WcBatch;

/** The completion queue of {@link IdleQp}s: it asks them what has completed. */
final class IdleCq extends LoopbackCq {

    private volatile IdleQp[] qps = {};

    IdleCq(LoopbackDevice device, LoopbackCompChannel channel, int entries, int cookie) throws IOException {
        super(device, channel, entries, cookie);
    }

    synchronized void add(IdleQp qp) {
        List<IdleQp> all = new ArrayList<>(List.of(qps));
        all.add(qp);
        qps = all.toArray(IdleQp[]::new);
    }

    synchronized void remove(IdleQp qp) {
        List<IdleQp> all = new ArrayList<>(List.of(qps));
        all.remove(qp);
        qps = all.toArray(IdleQp[]::new);
    }

    @Override
    public int poll(WcBatch batch) {
        int n = 0;
        for (IdleQp qp : qps) {
            n = qp.complete(this, batch, n);
        }
        return n > 0 ? n : super.poll(batch); // the completions of failures
    }

    /** Returns true: an answer may be ready at any time, and asking costs as much as polling. */
    @Override
    public boolean spin(long nanos) {
        return true;
    }
}
