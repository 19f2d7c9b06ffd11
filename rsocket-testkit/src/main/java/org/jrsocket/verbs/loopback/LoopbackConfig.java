/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import org.jrsocket.os.Errno;

/**
 * How a {@link LoopbackProvider} behaves and what its devices take. Setters return the object; a provider copies what
 * it needs when it is made, so later changes do nothing.
 */
public final class LoopbackConfig {

    Delivery delivery = Delivery.IMMEDIATE;
    long latencyNanos;
    long cmTimeoutMillis = 200;
    long retryTimeoutMillis = 100;
    boolean retryForever;
    boolean timewaitEvents;

    String name = "lo0";
    boolean iwarp;
    boolean writesAsReceives;
    int maxQp = 65536;
    int maxQpWr = 16384;
    int maxCqe = 65536;
    int maxMr = 65536;
    int maxInline = 1024;
    int inlineErrno = Errno.EINVAL;
    int maxSge = 32;
    int maxRdAtom = 16;
    int mtu = 4096;
    long maxRegistered = Long.MAX_VALUE;
    boolean roundUp;
    boolean idle;
    int idleMessage;
    int idleReady;

    /** Default {@link Delivery#IMMEDIATE}. */
    public LoopbackConfig delivery(Delivery value) {
        delivery = value;
        return this;
    }

    /** With {@link Delivery#THREAD}: each message arrives at least this long after it was posted. Default 0. */
    public LoopbackConfig latencyNanos(long value) {
        latencyNanos = value;
        return this;
    }

    /**
     * How long the CM waits for an answer to a message that was lost, all its retries included. Default 200; 0 gives up
     * at once.
     */
    public LoopbackConfig cmTimeoutMillis(long value) {
        cmTimeoutMillis = value;
        return this;
    }

    /**
     * How long a message waits for a queue pair that does not answer before RETRY_EXCEEDED. Default 100; 0 gives up at
     * once.
     */
    public LoopbackConfig retryTimeoutMillis(long value) {
        retryTimeoutMillis = value;
        return this;
    }

    /** As soft-RoCE: a retry count of 7 never gives up. Default off. */
    public LoopbackConfig retryForever(boolean value) {
        retryForever = value;
        return this;
    }

    /** Whether TIMEWAIT_EXIT follows DISCONNECTED, as it does after a while with a real CM. Default off. */
    public LoopbackConfig timewaitEvents(boolean value) {
        timewaitEvents = value;
        return this;
    }

    /** The device's name. Default {@code lo0}. */
    public LoopbackConfig name(String value) {
        name = value;
        return this;
    }

    /** Whether the device is iWARP: no immediate data, private data at its exact length. Default off. */
    public LoopbackConfig iwarp(boolean value) {
        iwarp = value;
        return this;
    }

    /**
     * As irdma in rdma-core 44 to 51 (Intel E810, RoCE): the completion of a write with immediate data has the opcode
     * of a receive, and the length of what was written. Default off.
     */
    public LoopbackConfig writesAsReceives(boolean value) {
        writesAsReceives = value;
        return this;
    }

    /** Queue pairs. Default 65536. */
    public LoopbackConfig maxQp(int value) {
        maxQp = value;
        return this;
    }

    /** Work requests of a queue; more are refused, EINVAL. Default 16384. */
    public LoopbackConfig maxQpWr(int value) {
        maxQpWr = value;
        return this;
    }

    /** Entries of a completion queue; more are refused, EINVAL. Default 65536. */
    public LoopbackConfig maxCqe(int value) {
        maxCqe = value;
        return this;
    }

    /** Memory regions; more are refused, ENOMEM. Default 65536. */
    public LoopbackConfig maxMr(int value) {
        maxMr = value;
        return this;
    }

    /** Inline bytes of a work request; more are refused. Default 1024. */
    public LoopbackConfig maxInline(int value) {
        maxInline = value;
        return this;
    }

    /** What a queue pair with too many inline bytes is refused with; devices differ. Default EINVAL. */
    public LoopbackConfig inlineErrno(int value) {
        inlineErrno = value;
        return this;
    }

    /** Bytes of a packet. Default 4096. */
    public LoopbackConfig mtu(int value) {
        mtu = value;
        return this;
    }

    /** Bytes that may be registered in all, as RLIMIT_MEMLOCK says; more are refused, ENOMEM. Default no limit. */
    public LoopbackConfig maxRegistered(long value) {
        maxRegistered = value;
        return this;
    }

    /**
     * Whether queues are granted larger than asked for, at the next power of two, as many devices do. Default off:
     * exactly what was asked.
     */
    public LoopbackConfig roundUp(boolean value) {
        roundUp = value;
        return this;
    }

    /**
     * A device that carries nothing, to measure what a stream itself takes: a post returns at once, its completion is
     * ready, grants and credits come in time. Only between two ends that speak rsocket. Default off.
     *
     * @param message bytes of the messages that the connecting end finds whenever it polls and has granted room for
     * them; 0 for none
     * @param ready how many of them one poll finds at most
     */
    public LoopbackConfig idle(int message, int ready) {
        idle = true;
        idleMessage = message;
        idleReady = ready;
        return this;
    }
}
