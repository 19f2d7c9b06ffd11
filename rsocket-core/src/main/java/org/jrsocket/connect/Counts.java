/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * How many connections took which transport, and why TCP. Safe for use by many threads; a reader sees each number, not
 * one moment.
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

    /** @param nanos that it took */
    void connectedRdma(long nanos) {
        rdmaConnected.increment();
        connectTimes.add(nanos);
    }

    /** A client connection was left to TCP; whether TCP then connected is not known here. */
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
     * How many RDMA connection requests that no rule admitted had their answer within so many microseconds or less, by
     * that number; {@code +Inf} is all.
     */
    public Map<String, Long> refusalMicros() {
        return refusalTimes.byMicros();
    }

    /** RDMA connection requests that no rule admitted. */
    public long rdmaRefused() {
        return rdmaRefused.sum();
    }

    /** Connections made over RDMA. */
    public long rdmaConnected() {
        return rdmaConnected.sum();
    }

    /**
     * How many connections took so many microseconds or less to make over RDMA, by that number; {@code +Inf} is all.
     */
    public Map<String, Long> connectMicros() {
        return connectTimes.byMicros();
    }

    /** Connections accepted over RDMA. */
    public long rdmaAccepted() {
        return rdmaAccepted.sum();
    }

    /** Connections accepted over TCP by servers that listen on both. */
    public long tcpAccepted() {
        return tcpAccepted.sum();
    }

    /** Client connections that were left to TCP for this reason. */
    public long tcpChosen(TcpReason reason) {
        return tcpChosen.get(reason).sum();
    }
}
