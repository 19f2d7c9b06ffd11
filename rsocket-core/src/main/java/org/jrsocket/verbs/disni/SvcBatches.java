/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.disni;

import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jrsocket.verbs.RecvBatch;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.WcBatch;

/**
 * Batches that DiSNI's verb calls borrow while they execute. A call owns none, because many DiSNI programs make a call
 * per message and never free it. There are as many batches as calls that ever executed at the same time.
 */
final class SvcBatches {

    /** How many requests one library call takes; longer lists are posted in several calls. */
    static final int CAPACITY = 32;

    private final Queue<SendBatch> sends = new ConcurrentLinkedQueue<>();
    // by scatter entries
    private final ConcurrentHashMap<Integer, Queue<RecvBatch>> receives = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<Integer, Queue<WcBatch>> completions = new ConcurrentHashMap<>(); // by capacity

    SendBatch takeSend() {
        SendBatch batch = sends.poll();
        return batch == null ? new SendBatch(CAPACITY) : batch;
    }

    void give(SendBatch batch) {
        batch.clear();
        sends.add(batch);
    }

    RecvBatch takeRecv(int maxSge) {
        RecvBatch batch = receives.computeIfAbsent(maxSge, key -> new ConcurrentLinkedQueue<>())
                .poll();
        return batch == null ? new RecvBatch(CAPACITY, maxSge) : batch;
    }

    void give(RecvBatch batch) {
        batch.clear();
        receives.get(batch.maxSge()).add(batch);
    }

    WcBatch takeWc(int capacity) {
        WcBatch batch = completions
                .computeIfAbsent(capacity, key -> new ConcurrentLinkedQueue<>())
                .poll();
        return batch == null ? new WcBatch(capacity) : batch;
    }

    void give(WcBatch batch) {
        completions.get(batch.capacity()).add(batch);
    }
}
