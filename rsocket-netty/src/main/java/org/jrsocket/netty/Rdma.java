/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import java.nio.channels.spi.SelectorProvider;
import org.jrsocket.nio.RSelectorProvider;
import org.jrsocket.verbs.VerbsUnavailableException;

/**
 * Whether this process has RDMA, and what the transport counts. {@link RdmaIoHandler} and the channels work without
 * RDMA too: every connection is TCP then.
 */
public final class Rdma {

    /** Made when somebody first asks. */
    private static final class Shared {
        static final RSelectorProvider PROVIDER = new RSelectorProvider();

        static {
            MetricsBean.register(RdmaMetrics.TOTAL);
        }
    }

    private Rdma() {}

    /**
     * Where channels and selectors come from: with the agent the same as the rest of the process has.
     *
     * @throws IllegalStateException a setting cannot be used, or the JDK's internals are not open; the message says
     *     what to do
     */
    static SelectorProvider provider() {
        try {
            return Shared.PROVIDER;
        } catch (ExceptionInInitializerError e) {
            if (e.getCause() instanceof IllegalStateException cause) {
                throw new IllegalStateException(cause.getMessage(), cause);
            }
            throw e;
        } catch (NoClassDefFoundError e) { // not the first time
            throw new IllegalStateException("jrsocket cannot be used in this process: " + e.getMessage(), e);
        }
    }

    /** Whether connections can use RDMA here. If not, they use TCP. */
    public static boolean isAvailable() {
        return unavailabilityCause() == null;
    }

    /** Why connections cannot use RDMA here, with the remedy in the message; null if they can. */
    public static Throwable unavailabilityCause() {
        try {
            ((RSelectorProvider) provider()).ensureRdma();
            return null;
        } catch (VerbsUnavailableException | RuntimeException | LinkageError e) {
            return e;
        }
    }

    /**
     * For programs that want RDMA or nothing.
     *
     * @throws UnsatisfiedLinkError there is no RDMA; the cause says why
     */
    public static void ensureAvailability() {
        Throwable cause = unavailabilityCause();
        if (cause != null) {
            throw (Error) new UnsatisfiedLinkError("no RDMA: " + cause.getMessage()).initCause(cause);
        }
    }

    /** What all channels of this transport have carried over RDMA. */
    public static RdmaMetrics metrics() {
        return RdmaMetrics.TOTAL;
    }
}
