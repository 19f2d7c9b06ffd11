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
import org.jrsocket.stream.Totals;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.jrsocket.verbs.rdmacore.RdmaCoreProvider;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The process's RDMA transport. Verbs are opened when they are first asked for, the transport with its thread when the
 * first socket needs it, each once. If there are no verbs, the reason is kept, and as long as callers keep asking, a
 * thread of ours looks again every few seconds, because a driver may be loaded later. Safe for use by many threads.
 */
public final class TransportHolder implements StreamFactory {

    /** Opens verbs. */
    public interface Opener {
        VerbsProvider open() throws VerbsUnavailableException;
    }

    /** Starts the loop of the service thread. */
    interface Starter {
        ServiceLoop.Owned start() throws IOException;
    }

    /** The least time between two looks for verbs. */
    static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** The pause after the thread could not be created: the JVM prints a line on stdout for each try. */
    private static final long THREAD_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Initialised on demand, because the agent makes a holder before it has set up the log. */
    private static final class Log {
        private static final Logger LOG = LoggerFactory.getLogger(TransportHolder.class);
    }

    // Named classes, because the code of a lambda is generated at run time, while the JVM starts.

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

    private static final class OwnService implements Starter {

        @Override
        public ServiceLoop.Owned start() throws IOException {
            return ServiceLoop.start();
        }
    }

    private final Opener opener;
    private final Starter starter;
    private final Executor looks;
    private final LongSupplier clock;
    private volatile VerbsProvider provider; // written under this, as the next two
    private volatile VerbsUnavailableException unavailable;
    private volatile boolean opening; // a device may hang meanwhile, and others wait for this
    private boolean looking; // guarded by this, as the next
    private long looked;
    private Runnable atClose; // guarded by this
    private volatile boolean closed; // written under this
    private volatile RdmaTransport transport; // written under this
    private ServiceLoop.Owned
            service; // guarded by this; the transport's, which it may be waiting for; null: not started
    private OutOfMemoryError refusal; // why there is no service thread; guarded by this, as the next
    private long refusedAt;
    private int maxClosing = RdmaTransport.MAX_CLOSING; // guarded by this
    private long maxMemory = Long.MAX_VALUE; // guarded by this
    private BiConsumer<InetSocketAddress, InetSocketAddress> pathLost; // guarded by this; null: none

    private TransportHolder(Opener opener) {
        this(opener, new OwnThread(), NanoClock.SYSTEM, new OwnService());
    }

    /**
     * Makes a holder for tests.
     *
     * @param looks runs a look for verbs, which may take a while
     * @param clock nanoseconds, as {@link System#nanoTime}
     */
    TransportHolder(Opener opener, Executor looks, LongSupplier clock, Starter starter) {
        this.opener = opener;
        this.starter = starter;
        this.looks = looks;
        this.clock = clock;
    }

    /** Returns a holder over the devices of this host. */
    public static TransportHolder rdmaCore() {
        return new TransportHolder(new RdmaCore());
    }

    /** Returns a holder over verbs that are opened when they are needed. */
    public static TransportHolder opening(Opener opener) {
        return new TransportHolder(opener);
    }

    /** Returns a holder over an existing transport, for tests and for programs that bring their own verbs. */
    public static TransportHolder of(RdmaTransport transport) {
        TransportHolder holder = new TransportHolder(() -> {
            throw new AssertionError("the transport is there already");
        });
        holder.transport = transport;
        return holder;
    }

    /** Returns a holder over an existing transport and its verbs. */
    public static TransportHolder over(VerbsProvider provider, RdmaTransport transport) {
        TransportHolder holder = of(transport);
        holder.provider = provider;
        return holder;
    }

    /** Returns a holder without RDMA. */
    public static TransportHolder unavailable(VerbsUnavailableException reason) {
        TransportHolder holder = new TransportHolder(() -> {
            throw reason;
        });
        holder.keep(reason);
        return holder;
    }

    /**
     * Returns the verbs, which are opened if that has not been tried.
     *
     * @throws VerbsUnavailableException with the reason why this process has no RDMA, as of the last look; once what
     *     was missing has come, calls soon succeed
     */
    public synchronized VerbsProvider provider() throws VerbsUnavailableException {
        if (unavailable != null) {
            lookIfDue();
            throw stillUnavailable();
        }
        if (provider == null) {
            opening = true;
            try {
                provider = opener.open();
            } catch (VerbsUnavailableException e) {
                throw keep(e);
            } catch (RuntimeException | LinkageError | OutOfMemoryError e) { // TCP still works
                throw keep(failed("cannot open RDMA verbs: " + e, e));
            } finally {
                opening = false;
            }
        }
        return provider;
    }

    /** Returns an exception with the caller's stack trace for the reason that is kept. Called with the lock held. */
    private VerbsUnavailableException stillUnavailable() {
        return new VerbsUnavailableException(unavailable.reason(), unavailable.getMessage(), unavailable);
    }

    /** Keeps the reason why there are no verbs. Called with the lock held. */
    private VerbsUnavailableException keep(VerbsUnavailableException reason) {
        unavailable = reason;
        looked = clock.getAsLong();
        return reason;
    }

    /**
     * Returns the exception for a failure here. It must not fail what the application asked for, which needs no RDMA.
     */
    private static VerbsUnavailableException failed(String message, Throwable cause) {
        return new VerbsUnavailableException(VerbsUnavailableException.Reason.LIBRARY, message, cause);
    }

    /** Starts a look for verbs, if it is time for one. Called with the lock held. */
    private void lookIfDue() {
        if (looking
                || closed
                || unavailable.reason() == VerbsUnavailableException.Reason.PLATFORM
                || clock.getAsLong() - looked < LOOK_NANOS) {
            return;
        }
        looking = true;
        try {
            looks.execute(this::look);
        } catch (RuntimeException | OutOfMemoryError e) { // no thread available: later
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

    /** Sets the limit as {@link RdmaTransport#limitClosing} does; opens nothing. */
    synchronized void limitClosing(int max) {
        maxClosing = max;
        if (transport != null) {
            transport.limitClosing(max);
        }
    }

    /** Sets the limit as {@link RdmaTransport#limitMemory} does; opens nothing. */
    synchronized void limitMemory(long bytes) {
        maxMemory = bytes;
        if (transport != null) {
            transport.limitMemory(bytes);
        }
    }

    /** Sets the action as {@link RdmaTransport#onPathLost} does; opens nothing. */
    synchronized void onPathLost(BiConsumer<InetSocketAddress, InetSocketAddress> action) {
        pathLost = action;
        if (transport != null) {
            transport.onPathLost(action);
        }
    }

    /** Sets an action that runs when this is closed, while there is still a service thread. */
    synchronized void onClose(Runnable action) {
        atClose = action;
    }

    @Override
    public boolean isOver() {
        return closed;
    }

    /** Returns the transport, opened if necessary. */
    public RdmaTransport transport() throws VerbsUnavailableException {
        RdmaTransport open = transport;
        return open != null ? open : openTransport();
    }

    private RdmaTransport openTransport() throws VerbsUnavailableException {
        return privileged(this::openTransportOnce);
    }

    /**
     * Opens something with the access rights of this project, which the first caller need not have under a security
     * manager.
     */
    @SuppressWarnings("removal") // of JDK 17
    private static <T> T privileged(PrivilegedExceptionAction<T> opening) throws VerbsUnavailableException {
        try {
            return AccessController.doPrivileged(opening);
        } catch (PrivilegedActionException e) {
            throw (VerbsUnavailableException) e.getException();
        }
    }

    private synchronized RdmaTransport openTransportOnce() throws VerbsUnavailableException {
        if (transport == null) {
            VerbsProvider verbs = provider();
            try {
                RdmaTransport open = RdmaTransport.over(verbs, startService());
                open.limitClosing(maxClosing);
                open.limitMemory(maxMemory);
                if (pathLost != null) {
                    open.onPathLost(pathLost);
                }
                transport = open;
            } catch (IOException | OutOfMemoryError e) { // out of descriptors or threads: it may work later
                throw failed("cannot start the RDMA service: " + e.getMessage(), e);
            }
        }
        return transport;
    }

    /** Returns the loop, started if necessary. Called with the lock held. */
    private ServiceLoop.Owned startService() throws IOException {
        if (service == null) {
            if (refusal != null && clock.getAsLong() - refusedAt < THREAD_NANOS) {
                throw refusal;
            }
            try {
                service = starter.start();
                refusal = null;
            } catch (OutOfMemoryError e) {
                refusal = e;
                refusedAt = clock.getAsLong();
                throw e;
            }
        }
        return service;
    }

    private synchronized ServiceLoop openService() throws VerbsUnavailableException {
        if (closed) {
            throw stillUnavailable();
        }
        if (transport != null) {
            return transport.service();
        }
        try {
            return startService();
        } catch (IOException | LinkageError | OutOfMemoryError e) {
            throw failed("cannot start the RDMA service: " + e.getMessage(), e);
        }
    }

    /**
     * Closes the transport, if there is one. Later callers are told that there is no RDMA any more. Waits as
     * {@link RdmaTransport#finish} does; harmless when repeated.
     */
    public void close() {
        RdmaTransport open;
        ServiceLoop.Owned loop;
        Runnable action;
        synchronized (this) {
            closed = true;
            action = atClose;
            unavailable = new VerbsUnavailableException(
                    VerbsUnavailableException.Reason.CLOSED, "this program has ended its use of RDMA", null);
            provider = null;
            open = transport;
            transport = null;
            loop = service;
            service = null;
        }
        if (action != null) {
            action.run();
        }
        if (open != null) {
            open.finish();
        } else if (loop != null) {
            loop.end();
        }
    }

    /** Returns whether verbs are open; opens nothing, and does not wait for a thread that does. */
    public boolean hasVerbs() {
        return transport != null || provider != null;
    }

    /**
     * Returns a readable description of the verbs, or {@code none: } and the reason. Opens nothing, and does not wait
     * for a thread that does: the device may hang. If there are no verbs, this counts as asking for them.
     */
    public String description() {
        RdmaTransport open = transport;
        VerbsProvider verbs = provider;
        if (open != null || verbs != null) {
            return open != null ? open.description() : verbs.description();
        }
        if (unavailable == null) {
            return opening ? "none: RDMA is being opened at this moment" : "none: nothing has needed RDMA so far";
        }
        try {
            return provider().description();
        } catch (VerbsUnavailableException e) {
            return "none: " + e.getMessage();
        }
    }

    /** Returns sums over its streams; opens nothing. */
    public Totals totals() {
        RdmaTransport open = transport;
        return open == null ? Totals.NONE : open.totals();
    }

    /** Returns its streams at this moment; opens nothing. */
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
        RdmaTransport open = transport;
        return open != null ? open.service() : privileged(this::openService);
    }
}
