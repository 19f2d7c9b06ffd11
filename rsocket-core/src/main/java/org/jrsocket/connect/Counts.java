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
    private final LongAdder rdmaAccepted = new LongAdder();
    private final LongAdder tcpAccepted = new LongAdder();
    private final LongAdder rdmaRefused = new LongAdder();
    private final Map<TcpReason, LongAdder> tcpChosen = new EnumMap<>(TcpReason.class);

    Counts() {
        for (TcpReason reason : TcpReason.values()) {
            tcpChosen.put(reason, new LongAdder());
        }
    }

    void connectedRdma() {
        rdmaConnected.increment();
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

    /** RDMA connection requests that no rule admitted. */
    public long rdmaRefused() {
        return rdmaRefused.sum();
    }

    /** Connections made over RDMA. */
    public long rdmaConnected() {
        return rdmaConnected.sum();
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
