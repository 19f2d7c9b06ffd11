/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.channel.ChannelPromise;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.nio.channels.spi.SelectorProvider;
import org.jrsocket.nio.RSelectorProvider;
import org.jrsocket.verbs.VerbsUnavailableException;

/**
 * Tells whether this process has RDMA, and what the transport counts. {@link RdmaIoHandler} and the channels work
 * without RDMA too: then every connection uses TCP. Safe for use by many threads.
 */
public final class Rdma {

    /** The provider, created on the first request. A failure is kept, so that later callers get the reason too. */
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

    private static volatile boolean over; // written with the class's monitor held

    private Rdma() {}

    /**
     * Returns the source of channels and selectors: with the agent, the same as the rest of the process has.
     *
     * @throws IllegalStateException if a setting cannot be used, the JDK's internals are not open, or the transport was
     *     shut down; the message says what to do
     */
    static RSelectorProvider provider() {
        if (over) {
            throw new IllegalStateException("the transport was shut down, by Rdma.shutdown()");
        }
        if (Shared.FAILURE != null) {
            throw new IllegalStateException(Shared.FAILURE.getMessage(), Shared.FAILURE);
        }
        return Shared.PROVIDER;
    }

    /**
     * Returns a promise for Netty to complete when a channel is registered. It completes {@code promise}, and adds a
     * message to the failure that has none: that the event loop is of the wrong kind.
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
                        "this event loop has the JDK's selectors, which cannot serve RDMA channels: create its group "
                                + "with RdmaIoHandler.newFactory(), or start with -javaagent:rsocket.jar",
                        failure)
                : failure;
    }

    /** Returns whether connections can use RDMA here. If not, they use TCP. */
    public static boolean isAvailable() {
        return unavailabilityCause() == null;
    }

    /** Returns why connections cannot use RDMA here, with the remedy in the message; null if they can. */
    public static Throwable unavailabilityCause() {
        try {
            provider().ensureRdma();
            return null;
        } catch (VerbsUnavailableException | RuntimeException | LinkageError e) {
            return e;
        }
    }

    /**
     * Throws if there is no RDMA: for programs that want RDMA or nothing.
     *
     * @throws UnsatisfiedLinkError if there is no RDMA; the cause says why
     */
    public static void ensureAvailability() {
        Throwable cause = unavailabilityCause();
        if (cause != null) {
            throw (Error) new UnsatisfiedLinkError("no RDMA: " + cause.getMessage()).initCause(cause);
        }
    }

    /** Returns what all channels of this transport have carried over RDMA. */
    public static RdmaMetrics metrics() {
        return RdmaMetrics.TOTAL;
    }

    /**
     * Ends what this copy of the transport has in the JVM, so that its class loader can be unloaded: for a web
     * application that is undeployed. A program that ends with its JVM need not call this method. It unregisters the
     * JMX bean, gives up the memory that {@link RdmaByteBufAllocator#DEFAULT} keeps, and closes the RDMA transport with
     * its threads, its shutdown hook and its native objects. It leaves alone an RDMA transport that is not this copy's
     * own: the agent's, that of another class loader, or that of the JVM's own channels.
     *
     * <p>Close the channels and shut the event loops down before. Connections over RDMA that are still open are reset,
     * and server channels that are still open accept no more of them; what uses TCP goes on. What was written to closed
     * channels is delivered first, for up to 5 s.
     *
     * <p>Release the buffers of {@link RdmaChannelOption#LEND_RECEIVES} before, too. If some are left, it waits for ten
     * seconds, logs how many connections they hold, and leaves the memory of these connections until they are released.
     *
     * <p>A shutdown cannot be undone. From then on, {@link RdmaIoHandler#newFactory} and the constructors of channels
     * throw {@link IllegalStateException}, {@link #isAvailable} is false, and {@link #metrics} keeps its numbers.
     * Channels and event loops that were made before may be closed, and buffers released; a channel that still connects
     * uses TCP.
     *
     * <p>Any thread may call this method, any number of times; when it returns, all is done. It waits until the device
     * has let go of the memory, for seconds if connections were open, so no event loop should call it.
     */
    public static synchronized void shutdown() {
        if (over) {
            return;
        }
        over = true;
        boolean used = Shared.PROVIDER != null; // a thread that was about to create it has done so by now
        MetricsBean.unregister();
        RdmaByteBufAllocator.DEFAULT.keepNothing();
        if (used && isOwn()) {
            RSelectorProvider.closeShared();
        }
    }

    /** Returns whether nothing else in the JVM uses the classes with which ours open channels. */
    private static boolean isOwn() {
        ClassLoader loader = Rdma.class.getClassLoader();
        return RSelectorProvider.class.getClassLoader() == loader
                && SelectorProvider.provider().getClass() != RSelectorProvider.class
                && AsynchronousChannelProvider.provider().getClass().getClassLoader() != loader;
    }
}
