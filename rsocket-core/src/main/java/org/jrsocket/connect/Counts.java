/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the connections of each transport, and the reasons for TCP. Safe for use by many threads; the numbers that a
 * reader sees are not all of the same moment.
 */
public final class Counts {

    private final LongAdder rdmaConnected = new LongAdder();
    private final TimeCounts connectTimes = new TimeCounts(
            100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000,
            2_000_000);
    private final LongAdder rdmaAccepted = new LongAdder();
    private final LongAdder tcpAccepted = new LongAdder();
    private final LongAdder rdmaRefused = new LongAdder();
    private final TimeCounts refusalTimes =
            new TimeCounts(10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000, 1_000_000);
    private final Map<TcpReason, LongAdder> tcpChosen = new EnumMap<>(TcpReason.class);

    Counts() {
        for (TcpReason reason : TcpReason.values()) {
            tcpChosen.put(reason, new LongAdder());
        }
    }

    /** @param nanos how long it took */
    void connectedRdma(long nanos) {
        rdmaConnected.increment();
        connectTimes.add(nanos);
    }

    /** Counts a client connection that was left to TCP; whether TCP then connected is not known here. */
    void choseTcp(TcpReason reason) {
        tcpChosen.get(reason).increment();
    }

    void acceptedRdma() {
        rdmaAccepted.increment();
    }

    void acceptedTcp() {
        tcpAccepted.increment();
    }

    void refusedRdma() {
        rdmaRefused.increment();
    }

    /** @param nanos from the request to its answer */
    void answeredRefused(long nanos) {
        refusalTimes.add(nanos);
    }

    /**
     * Returns how many of the requests that {@link #rdmaRefused} counts were answered within each number of
     * microseconds; {@code +Inf} counts all that were answered.
     */
    public Map<String, Long> refusalMicros() {
        return refusalTimes.byMicros();
    }

    /**
     * Returns the number of RDMA connection requests that were not admitted: by the rules, by the devices that the
     * listener may use, or because the policy was overridden with TCP.
     */
    public long rdmaRefused() {
        return rdmaRefused.sum();
    }

    /** Returns the number of connections made over RDMA. */
    public long rdmaConnected() {
        return rdmaConnected.sum();
    }

    /** Returns how many connections were made over RDMA within each number of microseconds; {@code +Inf} counts all. */
    public Map<String, Long> connectMicros() {
        return connectTimes.byMicros();
    }

    /** Returns the number of connections accepted over RDMA. */
    public long rdmaAccepted() {
        return rdmaAccepted.sum();
    }

    /** Returns the number of connections accepted over TCP by servers that listen on both. */
    public long tcpAccepted() {
        return tcpAccepted.sum();
    }

    /** Returns the number of client connections that were left to TCP for this reason. */
    public long tcpChosen(TcpReason reason) {
        return tcpChosen.get(reason).sum();
    }
}
