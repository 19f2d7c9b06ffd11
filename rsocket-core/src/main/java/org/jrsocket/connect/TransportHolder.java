/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.AccessController;
import java.security.PrivilegedActionException;
import java.security.PrivilegedExceptionAction;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.jrsocket.stream.Access;
import org.jrsocket.stream.PendingConnect;
import org.jrsocket.stream.RdmaListener;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.stream.ServiceLoop;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.stream.Threads;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.jrsocket.verbs.rdmacore.RdmaCoreProvider;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The process's RDMA transport: verbs are opened when somebody first asks whether there are any, the transport with its
 * thread when the first socket needs it, each once. If verbs cannot be had, the reason is kept, and while somebody goes
 * on asking, a thread of ours looks again every few seconds: a driver may be loaded later. Safe for use by many
 * threads.
 */
public final class TransportHolder implements StreamFactory {

    /** How verbs are opened. */
    public interface Opener {
        VerbsProvider open() throws VerbsUnavailableException;
    }

    /** At least so long between looks whether verbs have come. */
    static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** Made when it is needed: the agent makes a holder before it has set up the log. */
    private static final class Log {
        private static final Logger LOG = LoggerFactory.getLogger(TransportHolder.class);
    }

    // Classes of their own, as the code of a lambda is made at run time, while the JVM starts.

    private static final class RdmaCore implements Opener {

        @Override
        public VerbsProvider open() throws VerbsUnavailableException {
            return RdmaCoreProvider.open();
        }
    }

    private static final class OwnThread implements Executor {

        @Override
        public void execute(Runnable task) {
            Threads.daemon("jrsocket-look", task).start();
        }
    }

    private final Opener opener;
    private final Executor looks;
    private final LongSupplier clock;
    private VerbsProvider provider; // guarded by this, as the next
    private VerbsUnavailableException unavailable;
    private boolean looking; // guarded by this, as the next
    private long looked;
    private Runnable atClose; // guarded by this
    private volatile boolean closed; // written under this
    private volatile RdmaTransport transport; // written under this
    private int maxClosing = RdmaTransport.MAX_CLOSING; // guarded by this
    private long maxMemory = Long.MAX_VALUE; // guarded by this
    private BiConsumer<InetSocketAddress, InetSocketAddress> pathLost; // guarded by this; null: none

    private TransportHolder(Opener opener) {
        this(opener, new OwnThread(), NanoClock.SYSTEM);
    }

    /**
     * For tests.
     *
     * @param looks runs a look for verbs, which may take its time
     * @param clock nanoseconds, as {@link System#nanoTime}
     */
    TransportHolder(Opener opener, Executor looks, LongSupplier clock) {
        this.opener = opener;
        this.looks = looks;
        this.clock = clock;
    }

    /** Over the devices of this host. */
    public static TransportHolder rdmaCore() {
        return new TransportHolder(new RdmaCore());
    }

    /** Over verbs that are opened when they are needed. */
    public static TransportHolder opening(Opener opener) {
        return new TransportHolder(opener);
    }

    /** Over a transport that exists: tests, and programs that bring their own verbs. */
    public static TransportHolder of(RdmaTransport transport) {
        TransportHolder holder = new TransportHolder(() -> {
            throw new AssertionError("the transport is there already");
        });
        holder.transport = transport;
        return holder;
    }

    /** Over a transport that exists, with its verbs. */
    public static TransportHolder over(VerbsProvider provider, RdmaTransport transport) {
        TransportHolder holder = of(transport);
        holder.provider = provider;
        return holder;
    }

    /** Over nothing. */
    public static TransportHolder unavailable(VerbsUnavailableException reason) {
        return new TransportHolder(() -> {
            throw reason;
        });
    }

    /**
     * Opens verbs if that has not been tried.
     *
     * @throws VerbsUnavailableException the reason why this process has no RDMA, as of the last look; soon after
     *     whatever was missing has come, calls succeed
     */
    public synchronized VerbsProvider provider() throws VerbsUnavailableException {
        if (unavailable != null) {
            lookAgain();
            throw new VerbsUnavailableException(unavailable.reason(), unavailable.getMessage(), unavailable);
        }
        if (provider == null) {
            try {
                provider = opener.open();
            } catch (VerbsUnavailableException e) {
                throw keep(e);
            } catch (RuntimeException | LinkageError | OutOfMemoryError e) { // TCP goes on
                throw keep(failed("RDMA verbs do not open: " + e, e));
            }
        }
        return provider;
    }

    /** With the lock. */
    private VerbsUnavailableException keep(VerbsUnavailableException reason) {
        unavailable = reason;
        looked = clock.getAsLong();
        return reason;
    }

    /** What the application asked for needs no RDMA: whatever is short here is no failure there. */
    private static VerbsUnavailableException failed(String message, Throwable cause) {
        return new VerbsUnavailableException(VerbsUnavailableException.Reason.LIBRARY, message, cause);
    }

    /** With the lock. */
    private void lookAgain() {
        if (looking
                || closed
                || unavailable.reason() == VerbsUnavailableException.Reason.PLATFORM
                || clock.getAsLong() - looked < LOOK_NANOS) {
            return;
        }
        looking = true;
        try {
            looks.execute(this::look);
        } catch (RuntimeException | OutOfMemoryError e) { // no thread to be had: later
            looking = false;
            looked = clock.getAsLong();
        }
    }

    private void look() {
        VerbsProvider found = null;
        VerbsUnavailableException why = null;
        try {
            found = opener.open();
            Log.LOG.info("RDMA can be used from now on: {}", found.description());
        } catch (VerbsUnavailableException e) {
            why = e;
        } catch (RuntimeException | LinkageError | OutOfMemoryError e) {
            Log.LOG.debug("looking for RDMA failed", e);
        } finally {
            looked(found, why);
        }
    }

    private synchronized void looked(VerbsProvider found, VerbsUnavailableException why) {
        looking = false;
        looked = clock.getAsLong();
        if (closed) {
            return;
        }
        if (found != null) {
            provider = found;
            unavailable = null;
        } else if (why != null) {
            unavailable = why;
        }
    }

    /** As {@link RdmaTransport#limitClosing}; opens nothing. */
    synchronized void limitClosing(int max) {
        maxClosing = max;
        if (transport != null) {
            transport.limitClosing(max);
        }
    }

    /** As {@link RdmaTransport#limitMemory}; opens nothing. */
    synchronized void limitMemory(long bytes) {
        maxMemory = bytes;
        if (transport != null) {
            transport.limitMemory(bytes);
        }
    }

    /** As {@link RdmaTransport#onPathLost}; opens nothing. */
    synchronized void onPathLost(BiConsumer<InetSocketAddress, InetSocketAddress> action) {
        pathLost = action;
        if (transport != null) {
            transport.onPathLost(action);
        }
    }

    /** Runs when this is closed, while there is a service thread still. */
    synchronized void onClose(Runnable action) {
        atClose = action;
    }

    @Override
    public boolean isOver() {
        return closed;
    }

    /** The transport, opened if necessary. */
    public RdmaTransport transport() throws VerbsUnavailableException {
        RdmaTransport open = transport;
        return open != null ? open : openTransport();
    }

    /** With the rights of this project: whoever needs it first has to have none of them, under a security manager. */
    @SuppressWarnings("removal") // of JDK 17
    private RdmaTransport openTransport() throws VerbsUnavailableException {
        try {
            return AccessController.doPrivileged((PrivilegedExceptionAction<RdmaTransport>) this::openTransportOnce);
        } catch (PrivilegedActionException e) {
            throw (VerbsUnavailableException) e.getException();
        }
    }

    private synchronized RdmaTransport openTransportOnce() throws VerbsUnavailableException {
        if (transport == null) {
            VerbsProvider verbs = provider();
            try {
                RdmaTransport open = RdmaTransport.over(verbs);
                open.limitClosing(maxClosing);
                open.limitMemory(maxMemory);
                if (pathLost != null) {
                    open.onPathLost(pathLost);
                }
                transport = open;
            } catch (IOException | OutOfMemoryError e) { // descriptors or threads have run out: later it may work
                throw failed("the RDMA service does not start: " + e.getMessage(), e);
            }
        }
        return transport;
    }

    /**
     * Closes the transport, if there is one. Whoever asks for it later hears that there is no RDMA any more. Waits as
     * {@link RdmaTransport#finish}; harmless when repeated.
     */
    public void close() {
        RdmaTransport open;
        Runnable action;
        synchronized (this) {
            closed = true;
            action = atClose;
            unavailable = new VerbsUnavailableException(
                    VerbsUnavailableException.Reason.CLOSED, "this program has ended its use of RDMA", null);
            provider = null;
            open = transport;
            transport = null;
        }
        if (action != null) {
            action.run();
        }
        if (open != null) {
            open.finish();
        }
    }

    /** Whether verbs are open; opens nothing. */
    public synchronized boolean hasVerbs() {
        return transport != null || provider != null;
    }

    /**
     * What verbs there are, for people.
     *
     * @throws VerbsUnavailableException there are none
     */
    public String description() throws VerbsUnavailableException {
        RdmaTransport open = transport;
        return open != null ? open.description() : provider().description();
    }

    /** Sums over its streams; opens nothing. */
    public RdmaTransport.Totals totals() {
        RdmaTransport open = transport;
        return open == null ? RdmaTransport.Totals.NONE : open.totals();
    }

    /** Its streams at this moment; opens nothing. */
    public List<RdmaStream> streams() {
        RdmaTransport open = transport;
        return open == null ? List.of() : open.streams();
    }

    @Override
    public PendingConnect connect(
            InetSocketAddress local, InetSocketAddress remote, StreamConfig config, PendingConnect.Observer observer)
            throws VerbsUnavailableException {
        return transport().connect(local, remote, config, observer);
    }

    @Override
    public void probe(
            InetSocketAddress local, InetSocketAddress remote, StreamConfig config, PendingConnect.Observer observer)
            throws VerbsUnavailableException {
        transport().probe(local, remote, config, observer);
    }

    @Override
    public RdmaListener listen(InetSocketAddress local, int backlog, StreamConfig config, Access access)
            throws IOException {
        return transport().listen(local, backlog, config, access);
    }

    @Override
    public RdmaListener listenWhenFree(
            InetSocketAddress local, int backlog, StreamConfig config, Access access, RdmaListener.Patience patience)
            throws IOException {
        return RdmaListener.whenFree(transport(), local, backlog, config, access, patience);
    }

    @Override
    public void takeCmEvents() {
        RdmaTransport open = transport;
        if (open != null) {
            open.takeCmEvents();
        }
    }

    @Override
    public ServiceLoop service() throws VerbsUnavailableException {
        return transport().service();
    }
}
