/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import org.jrsocket.os.Errno;

/**
 * The behaviour of a {@link LoopbackProvider} and the limits of its devices. Setters return the object; a provider
 * copies what it needs when it is created, so later changes have no effect.
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
    int mostInline = Integer.MAX_VALUE;
    boolean lateArms;
    boolean queuesOutliveQp = true;
    int maxSge = 32;
    int maxRdAtom = 16;
    int mtu = 4096;
    long maxRegistered = Long.MAX_VALUE;
    boolean roundUp;
    boolean idle;
    int idleMessage;
    int idleReady;

    /** Sets when messages move. Default {@link Delivery#IMMEDIATE}. */
    public LoopbackConfig delivery(Delivery value) {
        delivery = value;
        return this;
    }

    /** Sets how long each message takes at least to arrive, with {@link Delivery#THREAD}. Default 0. */
    public LoopbackConfig latencyNanos(long value) {
        latencyNanos = value;
        return this;
    }

    /**
     * Sets how long the CM waits for an answer to a message that was lost, including all its retries. Default 200; 0
     * gives up at once.
     */
    public LoopbackConfig cmTimeoutMillis(long value) {
        cmTimeoutMillis = value;
        return this;
    }

    /**
     * Sets how long a message waits for a queue pair that does not answer before RETRY_EXCEEDED. Default 100; 0 gives
     * up at once.
     */
    public LoopbackConfig retryTimeoutMillis(long value) {
        retryTimeoutMillis = value;
        return this;
    }

    /** Sets whether a retry count of 7 never gives up, as with soft-RoCE. Default off. */
    public LoopbackConfig retryForever(boolean value) {
        retryForever = value;
        return this;
    }

    /** Sets whether TIMEWAIT_EXIT follows DISCONNECTED, as it does after a while with a real CM. Default off. */
    public LoopbackConfig timewaitEvents(boolean value) {
        timewaitEvents = value;
        return this;
    }

    /** Sets the device's name. Default {@code lo0}. */
    public LoopbackConfig name(String value) {
        name = value;
        return this;
    }

    /** Sets whether the device is iWARP: no immediate data, private data at its exact length. Default off. */
    public LoopbackConfig iwarp(boolean value) {
        iwarp = value;
        return this;
    }

    /**
     * Sets whether the completion of a write with immediate data has the opcode of a receive, and the length of what
     * was written, as with irdma in rdma-core 44 to 51 (Intel E810, RoCE). Default off.
     */
    public LoopbackConfig writesAsReceives(boolean value) {
        writesAsReceives = value;
        return this;
    }

    /** Sets the maximum number of queue pairs. Default 65536. */
    public LoopbackConfig maxQp(int value) {
        maxQp = value;
        return this;
    }

    /** Sets the maximum number of work requests of a queue; more are refused with EINVAL. Default 16384. */
    public LoopbackConfig maxQpWr(int value) {
        maxQpWr = value;
        return this;
    }

    /** Sets the maximum number of entries of a completion queue; more are refused with EINVAL. Default 65536. */
    public LoopbackConfig maxCqe(int value) {
        maxCqe = value;
        return this;
    }

    /** Sets the maximum number of memory regions; more are refused with ENOMEM. Default 65536. */
    public LoopbackConfig maxMr(int value) {
        maxMr = value;
        return this;
    }

    /** Sets the maximum number of inline bytes of a work request; more are refused. Default 1024. */
    public LoopbackConfig maxInline(int value) {
        maxInline = value;
        return this;
    }

    /** Sets the error with which a queue pair with too many inline bytes is refused; devices differ. Default EINVAL. */
    public LoopbackConfig inlineErrno(int value) {
        inlineErrno = value;
        return this;
    }

    /** Sets how many inline bytes may be asked for, whatever is granted; mana grants what it cannot do. Default all. */
    public LoopbackConfig mostInline(int value) {
        mostInline = value;
        return this;
    }

    /**
     * Sets whether a completion queue is armed only by the first poll after the call that arms it, as with bnxt_re in
     * rdma-core before 46, and with ionic. Default off.
     */
    public LoopbackConfig lateArms(boolean value) {
        lateArms = value;
        return this;
    }

    /** Sets whether completion queues may be polled after their queue pair was destroyed; not with qedr. Default on. */
    public LoopbackConfig queuesOutliveQp(boolean value) {
        queuesOutliveQp = value;
        return this;
    }

    /** Sets the bytes of a packet. Default 4096. */
    public LoopbackConfig mtu(int value) {
        mtu = value;
        return this;
    }

    /** Sets how many bytes may be registered in all, like RLIMIT_MEMLOCK; more get ENOMEM. Default no limit. */
    public LoopbackConfig maxRegistered(long value) {
        maxRegistered = value;
        return this;
    }

    /**
     * Sets whether queues are granted larger than asked for, at the next power of two, as many devices do. Default off:
     * exactly what was asked for.
     */
    public LoopbackConfig roundUp(boolean value) {
        roundUp = value;
        return this;
    }

    /**
     * Makes the device carry nothing, to measure what a stream itself takes: a post returns at once, its completion is
     * ready, and grants and credits come in time. Only between two ends that speak rsocket. Default off.
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
