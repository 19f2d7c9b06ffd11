/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import org.jrsocket.endpoint.BundlePool;
import org.jrsocket.endpoint.Endpoint;
import org.jrsocket.endpoint.Freeing;
import org.jrsocket.endpoint.QueueLimits;
import org.jrsocket.threads.ServiceLoop;
import org.jrsocket.threads.ServiceLoops;
import org.jrsocket.threads.ServiceThread;
import org.jrsocket.threads.Threads;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.VerbsProvider;

/**
 * The RDMA stack of a process over one verbs provider. Streams, listeners and their memory belong to it. Thread-safe.
 *
 * <p>None of its daemon threads moves data. They are the service thread (connection events, closes, wake-ups of virtual
 * threads, what writers left behind; the last two are divided among several on large hosts) and a few that wait for
 * devices, which can take milliseconds: while connections begin, makers, which create native objects, and while they
 * end, reapers, which free them.
 */
public final class RdmaTransport implements AutoCloseable {

    /** The default of {@link #limitClosing}. */
    public static final int MAX_CLOSING = Closings.MAX;

    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final ServiceThread service;
    private final Services services;
    private final OpenStreams streams;
    private final CmServices cmServices;
    private final ExitDelay exitDelay;

    private RdmaTransport(VerbsProvider provider, long idleNanos, ServiceLoops loops) throws IOException {
        service = loops.first();
        streams = new OpenStreams(service);
        DeviceFailures failures = new DeviceFailures(service, streams);
        services = new Services(provider, idleNanos, loops, failures);
        ExitDelay delay = null;
        CmEvents events = null;
        try {
            delay = new ExitDelay(streams, services.farewells);
            events = new CmEvents(services.cm, services.channel, service, services.devices);
            exitDelay = delay;
            cmServices = new CmServices(services, events, streams, failures);
            delay.begin();
            events.start(); // last, so that after a failure nobody uses the channel; no event comes yet
        } catch (IOException | RuntimeException | Error e) { // the next connection tries again
            if (delay != null) {
                delay.end();
            }
            if (events != null) {
                events.end();
            }
            Freeing.attempt("rdma_destroy_event_channel", null, Cm::destroyEventChannel, services.cm, services.channel);
            throw e;
        }
    }

    /** Creates a stack over {@code provider}; its threads start now. */
    public static RdmaTransport over(VerbsProvider provider) throws IOException {
        return over(provider, BundlePool.IDLE_NANOS);
    }

    /** Creates a stack that keeps what connections leave for {@code idleNanos}. */
    static RdmaTransport over(VerbsProvider provider, long idleNanos) throws IOException {
        return over(provider, idleNanos, Threads::daemon);
    }

    /** Creates such a stack with a service thread made by {@code threads}. */
    static RdmaTransport over(VerbsProvider provider, long idleNanos, BiFunction<String, Runnable, Thread> threads)
            throws IOException {
        return over(provider, idleNanos, threads, ServiceLoops.warranted());
    }

    /** Creates such a stack with so many service threads. */
    static RdmaTransport over(
            VerbsProvider provider, long idleNanos, BiFunction<String, Runnable, Thread> threads, int loops)
            throws IOException {
        ServiceThread service = new ServiceThread(ServiceThread.NAME, threads);
        try {
            return over(provider, idleNanos, new ServiceLoops(service, loops));
        } catch (IOException | RuntimeException | Error e) {
            service.end();
            throw e;
        }
    }

    private static RdmaTransport over(VerbsProvider provider, long idleNanos, ServiceLoops loops) throws IOException {
        try {
            return new RdmaTransport(provider, idleNanos, loops);
        } catch (IOException | RuntimeException | Error e) {
            loops.endOthers();
            throw e;
        }
    }

    /**
     * Starts a loop that has no transport yet; see {@link #over(VerbsProvider, ServiceLoop.Owned)}.
     *
     * @throws IOException if the process has no descriptor left
     * @throws UnsatisfiedLinkError if there is no native library for this system
     */
    public static ServiceLoop.Owned startLoop() throws IOException {
        return new ServiceThread(ServiceThread.NAME, Threads::daemon);
    }

    /** Creates a stack on a loop that ends with it from now on. After a failure the loop is still the caller's. */
    public static RdmaTransport over(VerbsProvider provider, ServiceLoop.Owned service) throws IOException {
        return over(
                provider, BundlePool.IDLE_NANOS, new ServiceLoops((ServiceThread) service, ServiceLoops.warranted()));
    }

    /**
     * Starts connecting.
     *
     * @param local the address to bind to first, or null
     * @param remote the resolved address
     */
    public PendingConnect connect(InetSocketAddress local, InetSocketAddress remote, StreamConfig config) {
        return connect(local, remote, config, PendingConnect.Observer.NONE);
    }

    /** Starts connecting; {@code observer} is told what is learned about the peer. */
    public PendingConnect connect(
            InetSocketAddress local, InetSocketAddress remote, StreamConfig config, PendingConnect.Observer observer) {
        CmConnect connecting = new CmConnect(cmServices, local, remote, config, observer, false);
        connecting.start();
        return connecting;
    }

    /**
     * Asks a peer whether it would accept a connection, without making one; {@code observer} is told the answer. The
     * application of a listener of ours is told nothing of it. A C program may accept a connection that ends at once.
     */
    public void probe(InetSocketAddress remote, StreamConfig config, PendingConnect.Observer observer) {
        probe(null, remote, config, observer);
    }

    /** Probes a peer from an address of this host. */
    public void probe(
            InetSocketAddress local, InetSocketAddress remote, StreamConfig config, PendingConnect.Observer observer) {
        new CmConnect(cmServices, local, remote, config, observer, true).start();
    }

    /**
     * Listens.
     *
     * @param backlog connections that are established but not yet accepted; later ones wait a while and are refused as
     *     busy
     * @throws org.jrsocket.os.ErrnoException ENODEV if no device serves the address, EADDRINUSE if the port is taken
     */
    public RdmaListener listen(InetSocketAddress local, int backlog, StreamConfig config) throws IOException {
        return listen(local, backlog, config, Access.ALL);
    }

    /** Listens for clients that {@code access} admits; others are refused before anything is made for them. */
    public RdmaListener listen(InetSocketAddress local, int backlog, StreamConfig config, Access access)
            throws IOException {
        return CmListener.open(cmServices, local, backlog, config, access, null);
    }

    /**
     * Listens likewise, but on a given port that somebody else now has over RDMA: it listens once the port is free,
     * which it checks about twice a second, or as rarely as {@code patience} says.
     */
    public RdmaListener listenWhenFree(
            InetSocketAddress local, int backlog, StreamConfig config, Access access, RdmaListener.Patience patience)
            throws IOException {
        return CmListener.open(cmServices, local, backlog, config, access, patience);
    }

    /**
     * Makes what a connection needs on the device that has {@code local}, and frees it again. This tells whether
     * connections will be possible, and what the device grants them.
     *
     * @throws IOException if it cannot be made; the message says why and what to do
     */
    public QueueLimits tryQueuePair(InetAddress local, StreamConfig config) throws IOException {
        return Endpoint.tryOne(services.endpoints, services.channel, local, config.endpointSizes());
    }

    /** Returns the service thread's loop, which can also watch other descriptors (a TCP listener's). */
    public ServiceLoop service() {
        return service;
    }

    /**
     * Ends the threads and everything that is still open: streams are reset, listeners and attempts to connect end.
     * Later requests fail. Waits for the device to let go, for seconds if need be. Streams from which bytes are still
     * borrowed are freed once these are given back. Repeated calls have no effect.
     */
    @Override
    public void close() {
        end(false);
    }

    /** Closes like {@link #close}, once data written to closed streams is delivered, as when a JVM exits. */
    public void finish() {
        end(true);
    }

    private void end(boolean delivering) {
        boolean interrupted = Thread.interrupted(); // otherwise no wait would wait
        OpenIds openIds = cmServices.openIds;
        openIds.endListeners();
        openIds.endConnects(); // otherwise an answer could make a stream in the meantime
        awaitTasks();
        boolean idle = services.makers.end(CLOSE_NANOS);
        interrupted |= Thread.interrupted();
        awaitTasks(); // they take what the makers have made
        if (delivering) {
            streams.abortOpen();
            exitDelay.awaitPeers();
        }
        streams.abortAll(CLOSE_NANOS);
        services.farewells.end();
        exitDelay.end();
        cmServices.events.end();
        services.devices.end();
        boolean stopped = services.loops.stop(CLOSE_NANOS);
        openIds.endConnects(); // no thread takes their late answers any more
        services.bundles.close(); // so that a reaper frees what is kept
        services.reapers.end();
        cmServices.events.over(idle && stopped, streams::count);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Handles what has arrived. Called on the service thread, but not within a callback of the connection manager. */
    public void takeCmEvents() {
        cmServices.events.takeAll();
    }

    /** Waits for the service thread's tasks: listeners leave to it the streams that they have not handed over. */
    private void awaitTasks() {
        if (!service.isCurrent() && !service.hasEnded()) {
            CountDownLatch done = new CountDownLatch(1);
            service.execute(done::countDown);
            Threads.await(done, CLOSE_NANOS);
        }
    }

    /**
     * Limits how many closed streams may have something to deliver for long. Beyond that, the oldest of those whose
     * peers have taken nothing for ten seconds are reset; with 16 times as many, the oldest that wait for their peers.
     */
    public void limitClosing(int max) {
        services.closings.limit(max);
    }

    /**
     * Limits the bytes that may be registered for all streams together. Streams that would grow beyond it stay as they
     * are, and a connection that cannot have its minimum is refused.
     */
    public void limitMemory(long bytes) {
        services.memory.limit(bytes);
    }

    /** Returns the bytes that are registered now, for streams and for what is kept for later streams. */
    public long registeredMemory() {
        return services.memory.used();
    }

    /**
     * Sets the action to run, with the local address and the peer's, when a connection was lost because the peer's
     * device did not answer although neither end had closed it. It runs on any thread and must not block.
     */
    public void onPathLost(BiConsumer<InetSocketAddress, InetSocketAddress> action) {
        services.onPathLost(action);
    }

    /** Waits as an exiting JVM does. */
    void awaitFarewells() {
        exitDelay.awaitFarewells();
    }

    /** Returns the number of streams that are not freed yet. */
    public int liveStreams() {
        return streams.count();
    }

    /** Describes the verbs that carry the transport, for people. */
    public String description() {
        return services.description;
    }

    /** Returns what is open, and all bytes so far. */
    public Totals totals() {
        return streams.totals(services.memory.refusals());
    }

    /**
     * Returns for how long, in nanoseconds, a thread of the transport's has been in one call, because a driver or a
     * logger hangs; 0 if none has for more than a second. Waits for nothing.
     */
    public long hungNanos() {
        return Math.max(
                services.loops.hungNanos(), Math.max(services.makers.hungNanos(), services.reapers.hungNanos()));
    }

    /** Returns the streams that are not freed yet, at this moment. */
    public List<RdmaStream> streams() {
        return streams.now();
    }

    /** Frees what ended connections have left for later ones; otherwise it would be freed after some seconds. */
    public void freeIdle() {
        services.bundles.freeIdle();
    }

    Services services() {
        return services;
    }

    CmServices cmServices() {
        return cmServices;
    }
}
