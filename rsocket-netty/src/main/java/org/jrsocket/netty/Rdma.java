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

    private static volatile boolean over; // written with the class's monitor

    private Rdma() {}

    /**
     * Where channels and selectors come from: with the agent the same as the rest of the process has.
     *
     * @throws IllegalStateException a setting cannot be used, the JDK's internals are not open, or the transport was
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
            provider().ensureRdma();
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

    /**
     * Ends what this copy of the transport has in the JVM, so that its class loader can be unloaded: for a web
     * application, when it is undeployed. A program that ends with its JVM need not call it. It unregisters the JMX
     * bean, gives up the memory that {@link RdmaByteBufAllocator#DEFAULT} keeps, and closes the RDMA transport: its
     * threads, its shutdown hook, its native objects. It leaves alone an RDMA transport that is not this copy's own:
     * the agent's, that of another class loader, or that of the JVM's own channels.
     *
     * <p>Close the channels and shut the event loops down before. Of what is open, connections over RDMA are reset, and
     * server channels accept no more of them; what uses TCP goes on. What was written to channels that are closed is
     * delivered first, for up to 5 s.
     *
     * <p>There is no way back. {@link RdmaIoHandler#newFactory} and the constructors of channels throw
     * {@link IllegalStateException} from then on, {@link #isAvailable} is false, and {@link #metrics} keeps its
     * numbers. What was made before may be closed, and buffers may be released; it uses TCP if it still connects.
     *
     * <p>Any thread may call it, any number of times; when it returns, it is done. It waits until the device has let go
     * of the memory, for seconds if connections were open, so no event loop should call it.
     */
    public static synchronized void shutdown() {
        if (over) {
            return;
        }
        over = true;
        boolean used = Shared.PROVIDER != null; // a thread that was about to make it has made it now
        MetricsBean.unregister();
        RdmaByteBufAllocator.DEFAULT.keepNothing();
        if (used && isOwn()) {
            RSelectorProvider.closeShared();
        }
    }

    /** Whether nobody else in the JVM uses the classes with which ours open channels. */
    private static boolean isOwn() {
        ClassLoader loader = Rdma.class.getClassLoader();
        return RSelectorProvider.class.getClassLoader() == loader
                && SelectorProvider.provider().getClass() != RSelectorProvider.class
                && AsynchronousChannelProvider.provider().getClass().getClassLoader() != loader;
    }
}
