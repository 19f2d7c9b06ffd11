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
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.stream.Totals;
import org.jrsocket.threads.ServiceLoop;
import org.jrsocket.threads.Threads;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.jrsocket.verbs.rdmacore.RdmaCoreProvider;

/**
 * The process's RDMA transport. Its verbs are opened when they are first asked for, the transport with its thread when
 * the first socket needs it, each once. If there are no verbs, a thread of ours looks again as long as callers keep
 * asking, because a driver may be loaded later ({@link HeldVerbs}). Safe for use by many threads.
 */
public final class TransportHolder implements StreamFactory {

    /** Starts the loop of the service thread. */
    interface Starter {
        ServiceLoop.Owned start() throws IOException;
    }

    /** The pause after the thread could not be created: the JVM prints a line on stdout for each try. */
    private static final long THREAD_NANOS = TimeUnit.SECONDS.toNanos(1);

    // Named classes, because the code of a lambda is generated at run time, while the JVM starts.

    private static final class RdmaCore implements VerbsOpener {

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
            return RdmaTransport.startLoop();
        }
    }

    private final HeldVerbs verbs;
    private final Starter starter;
    private final LongSupplier clock;
    private Runnable atClose; // guarded by this
    private volatile boolean closed; // written under this
    private volatile RdmaTransport transport; // written under this
    private ServiceLoop.Owned service; // the transport's, even before there is one; null: not started; guarded by this
    private OutOfMemoryError refusal; // why there is no service thread; guarded by this, as the next
    private long refusedAt;
    private int maxClosing = RdmaTransport.MAX_CLOSING; // guarded by this
    private long maxMemory = Long.MAX_VALUE; // guarded by this
    private BiConsumer<InetSocketAddress, InetSocketAddress> pathLost; // guarded by this; null: none

    private TransportHolder(VerbsOpener opener) {
        this(opener, new OwnThread(), NanoClock.SYSTEM, new OwnService());
    }

    /**
     * Makes a holder for tests.
     *
     * @param looks runs a look for verbs, which may take a while
     * @param clock nanoseconds, as {@link System#nanoTime}
     */
    TransportHolder(VerbsOpener opener, Executor looks, LongSupplier clock, Starter starter) {
        this.verbs = new HeldVerbs(opener, looks, clock);
        this.starter = starter;
        this.clock = clock;
    }

    /** Returns a holder over the devices of this host. */
    public static TransportHolder rdmaCore() {
        return new TransportHolder(new RdmaCore());
    }

    /** Returns a holder over verbs that are opened when they are needed. */
    public static TransportHolder opening(VerbsOpener opener) {
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
        holder.verbs.set(provider);
        return holder;
    }

    /** Returns a holder without RDMA. */
    public static TransportHolder unavailable(VerbsUnavailableException reason) {
        TransportHolder holder = new TransportHolder(() -> {
            throw reason;
        });
        holder.verbs.lack(reason);
        return holder;
    }

    /**
     * Returns the verbs, which are opened if that has not been tried.
     *
     * @throws VerbsUnavailableException with the reason why this process has no RDMA, as of the last look; once what
     *     was missing has come, calls soon succeed
     */
    public VerbsProvider provider() throws VerbsUnavailableException {
        return verbs.get();
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
            VerbsProvider provider = provider();
            try {
                RdmaTransport open = RdmaTransport.over(provider, startService());
                open.limitClosing(maxClosing);
                open.limitMemory(maxMemory);
                if (pathLost != null) {
                    open.onPathLost(pathLost);
                }
                transport = open;
            } catch (IOException | OutOfMemoryError e) { // out of descriptors or threads: it may work later
                throw HeldVerbs.failed("cannot start the RDMA service: " + e.getMessage(), e);
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
            throw verbs.lacking();
        }
        if (transport != null) {
            return transport.service();
        }
        try {
            return startService();
        } catch (IOException | LinkageError | OutOfMemoryError e) {
            throw HeldVerbs.failed("cannot start the RDMA service: " + e.getMessage(), e);
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
            verbs.close();
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
        return transport != null || verbs.areOpen();
    }

    /**
     * Returns a readable description of the verbs, or {@code none: } and the reason. Opens nothing, and does not wait
     * for a thread that does: the device may hang. If there are no verbs, this counts as asking for them.
     */
    public String description() {
        RdmaTransport open = transport;
        return open != null ? open.description() : verbs.description();
    }

    /** Returns sums over its streams; opens nothing. */
    public Totals totals() {
        RdmaTransport open = transport;
        return open == null ? Totals.NONE : open.totals();
    }

    /** See {@link RdmaTransport#hungNanos}; opens nothing. */
    public long hungNanos() {
        RdmaTransport open = transport;
        return open == null ? 0 : open.hungNanos();
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
        return transport().listenWhenFree(local, backlog, config, access, patience);
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
