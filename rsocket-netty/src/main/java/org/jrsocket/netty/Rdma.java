/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.channel.ChannelPromise;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.spi.SelectorProvider;
import org.jrsocket.nio.RSelectorProvider;
import org.jrsocket.verbs.VerbsUnavailableException;

/**
 * Whether this process has RDMA, and what the transport counts. {@link RdmaIoHandler} and the channels work without
 * RDMA too: every connection is TCP then.
 */
public final class Rdma {

    /** Made when somebody first asks. A failure is kept: whoever asks later hears the reason, too. */
    private static final class Shared {
        static final RSelectorProvider PROVIDER; // null if it could not be made
        static final IllegalStateException FAILURE;

        static {
            RSelectorProvider provider = null;
            IllegalStateException failure = null;
            try {
                provider = new RSelectorProvider();
                MetricsBean.register(RdmaMetrics.TOTAL);
            } catch (IllegalStateException e) {
                failure = e;
            }
            PROVIDER = provider;
            FAILURE = failure;
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
        if (Shared.FAILURE != null) {
            throw new IllegalStateException(Shared.FAILURE.getMessage(), Shared.FAILURE);
        }
        return Shared.PROVIDER;
    }

    /**
     * A promise for Netty to complete when a channel is registered. It completes {@code promise}, and adds a message to
     * a failure that has none: the event loop is of the wrong kind.
     */
    static ChannelPromise explaining(ChannelPromise promise) {
        ChannelPromise registered = promise.channel().newPromise();
        registered.addListener(done -> {
            if (done.isSuccess()) {
                promise.setSuccess();
            } else {
                promise.setFailure(explained(done.cause()));
            }
        });
        return registered;
    }

    private static Throwable explained(Throwable failure) {
        return failure instanceof IllegalSelectorException
                ? new IllegalStateException(
                        "this event loop has the JDK's selectors, which take no channel with RDMA: make its group with "
                                + "RdmaIoHandler.newFactory(), or start with -javaagent:rsocket.jar",
                        failure)
                : failure;
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
