/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.jfr;

import java.net.InetSocketAddress;
import jdk.jfr.FlightRecorder;

/** Passes events to Flight Recorder, if it is there and records. Any thread may call it, with or without locks. */
public final class Events {

    /** A runtime made with jlink may lack Flight Recorder, and then no class that names it may be loaded. */
    private static final boolean PRESENT =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    /** Stands for a time that is not known. */
    public static final long UNKNOWN = Long.MIN_VALUE;

    private Events() {}

    /**
     * Returns whether a recording has been asked for yet. Until then no event class may be touched: the first one sets
     * up Flight Recorder, which takes hundreds of milliseconds of a connection's time.
     */
    private static boolean isInUse() {
        return PRESENT && FlightRecorder.isInitialized();
    }

    /** Returns whether {@link #opened} would record anything, for callers to whom its arguments cost something. */
    public static boolean recordsOpened() {
        return isInUse() && ConnectionOpenedEvent.isRecorded();
    }

    /**
     * Records that a connection was opened.
     *
     * @param accepted whether a server accepted it, rather than a client making it
     * @param device the RDMA device that carries it, null over TCP
     * @param reason why it is not RDMA, null over RDMA and where the peer decided
     * @param setupNanos how long it took, or {@link #UNKNOWN}
     */
    public static void opened(
            InetSocketAddress local,
            InetSocketAddress remote,
            boolean accepted,
            String device,
            String reason,
            long setupNanos) {
        if (isInUse()) {
            ConnectionOpenedEvent.emit(local, remote, accepted, device, reason, setupNanos);
        }
    }

    /** Returns whether {@link #closed} would record anything. */
    public static boolean recordsClosed() {
        return isInUse() && ConnectionClosedEvent.isRecorded();
    }

    /**
     * Records that a connection is over.
     *
     * @param device as for {@link #opened}
     * @param bytesRead by the application; -1 if not known
     * @param bytesWritten by the application; -1 if not known
     * @param lifeNanos since it was opened
     * @param outcome "closed", "reset" (by this side), or "failed"
     * @param detail what failed, or null
     */
    public static void closed(
            InetSocketAddress local,
            InetSocketAddress remote,
            String device,
            long bytesRead,
            long bytesWritten,
            long lifeNanos,
            String outcome,
            String detail) {
        if (isInUse()) {
            ConnectionClosedEvent.emit(local, remote, device, bytesRead, bytesWritten, lifeNanos, outcome, detail);
        }
    }

    /**
     * Records that TCP is used, or tried, where RDMA was wanted.
     *
     * @param address the peer's address; where a server listens, its own
     * @param detail what the device or the library said, or null
     */
    public static void fallback(InetSocketAddress address, boolean listening, String reason, String detail) {
        if (isInUse()) {
            FallbackEvent.emit(address, listening, reason, detail);
        }
    }

    /** Records that something cannot be sent until the peer allows it. Returns null if nothing is recording. */
    public static Stall stalled() {
        return isInUse() ? CreditStallEvent.start() : null;
    }
}
