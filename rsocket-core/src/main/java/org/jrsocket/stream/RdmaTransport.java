/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import com.ibm.disni.verbs.RdmaCm;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.wire.ConnData;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The RDMA stack of a process over one verbs provider. Streams, listeners and their memory belong to it. Safe for use
 * by many threads.
 *
 * <p>None of its daemon threads is on the data path: the service thread (connection events, closes, wake-ups of virtual
 * threads, what writers left behind), and while connections end a few reapers, which free native objects because
 * destroying a queue pair can take a device milliseconds.
 */
public final class RdmaTransport implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(RdmaTransport.class);

    /** What {@link #limitClosing} says when nobody says otherwise. */
    public static final int MAX_CLOSING = Closings.MAX;

    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final String description;
    private final Cm cm;
    private final CmChannel channel;
    private final ServiceThread service;
    private final CmEvents events;
    private final MemoryBudget memory = new MemoryBudget();
    private final Reapers reapers;
    private final BundlePool bundles;
    private final OpenDevices devices = new OpenDevices(this);
    private final InlineLimits inlineLimits = new InlineLimits();
    private volatile BiConsumer<InetSocketAddress, InetSocketAddress> pathLost = (local, peer) -> {};
    private volatile Admission.Limits limits = Admission.Limits.DEFAULT;
    private final ExitDelay exitDelay;
    private final OpenStreams streams;
    private final Closings closings;
    private final Farewells farewells = new Farewells(this);
    private final LimitedLog protocolErrors = new LimitedLog(LoggerFactory.getLogger(RdmaStream.class));

    private final OpenIds openIds = new OpenIds();

    private RdmaTransport(VerbsProvider provider, long idleNanos, BiFunction<String, Runnable, Thread> threads)
            throws IOException {
        provider.install();
        description = provider.description();
        cm = provider.openCm();
        bundles = new BundlePool(this, provider.openVerbs(), idleNanos, memory);
        channel = cm.createEventChannel();
        ServiceThread loop = null;
        try {
            loop = new ServiceThread("jrsocket-service", threads);
            service = loop;
            closings = new Closings(service);
            streams = new OpenStreams(service);
            events = new CmEvents(cm, channel, service, devices);
            reapers = new Reapers(service);
            events.start(); // now that everything that an event needs is there
            exitDelay = new ExitDelay(streams, farewells);
            exitDelay.begin();
        } catch (IOException | RuntimeException | Error e) { // the next connection tries again
            if (loop != null) {
                loop.stop();
            }
            Freeing.attempt("rdma_destroy_event_channel", null, Cm::destroyEventChannel, cm, channel);
            throw e;
        }
    }

    /** A stack over {@code provider}; its threads start now. */
    public static RdmaTransport over(VerbsProvider provider) throws IOException {
        return over(provider, BundlePool.IDLE_NANOS);
    }

    /** With another time for which what connections leave is kept. */
    static RdmaTransport over(VerbsProvider provider, long idleNanos) throws IOException {
        return over(provider, idleNanos, Threads::daemon);
    }

    /** With a service thread of that making, too. */
    static RdmaTransport over(VerbsProvider provider, long idleNanos, BiFunction<String, Runnable, Thread> threads)
            throws IOException {
        return new RdmaTransport(provider, idleNanos, threads);
    }

    /**
     * Starts connecting.
     *
     * @param local where to bind before, or null
     * @param remote resolved address
     */
    public PendingConnect connect(InetSocketAddress local, InetSocketAddress remote, StreamConfig config) {
        return connect(local, remote, config, PendingConnect.Observer.NONE);
    }

    /** The same; {@code observer} hears what is learned of the peer. */
    public PendingConnect connect(
            InetSocketAddress local, InetSocketAddress remote, StreamConfig config, PendingConnect.Observer observer) {
        CmConnect connecting = new CmConnect(this, local, remote, config, observer, false);
        connecting.start();
        return connecting;
    }

    /**
     * Asks a peer whether it would have a connection, without making one; {@code observer} hears what it says. The
     * application of a listener of ours hears nothing of it. A C program may accept a connection that ends at once.
     */
    public void probe(InetSocketAddress remote, StreamConfig config, PendingConnect.Observer observer) {
        probe(null, remote, config, observer);
    }

    /** The same from an address of this host. */
    public void probe(
            InetSocketAddress local, InetSocketAddress remote, StreamConfig config, PendingConnect.Observer observer) {
        new CmConnect(this, local, remote, config, observer, true).start();
    }

    /**
     * Listens.
     *
     * @param backlog connections established but not yet accepted; later ones wait a while and are refused as busy
     * @throws org.jrsocket.os.ErrnoException ENODEV if no device serves the address, EADDRINUSE if the port is taken
     */
    public RdmaListener listen(InetSocketAddress local, int backlog, StreamConfig config) throws IOException {
        return listen(local, backlog, config, Access.ALL);
    }

    /** The same, for those whom {@code access} admits; others are refused before anything is made for them. */
    public RdmaListener listen(InetSocketAddress local, int backlog, StreamConfig config, Access access)
            throws IOException {
        return CmListener.open(this, local, backlog, config, access, null);
    }

    /**
     * Makes what a connection needs on the device that has {@code local}, and frees it: whether there will be
     * connections, and what the device grants them.
     *
     * @throws IOException it cannot be made; the message says why and what to do
     */
    public QueueLimits tryQueuePair(InetAddress local, StreamConfig config) throws IOException {
        CmId id = cm.createId(channel, RdmaCm.RDMA_PS_TCP);
        Endpoint endpoint;
        try {
            cm.bindAddr(id, new InetSocketAddress(local, 0));
            endpoint = new Endpoint(this, id, config);
        } catch (IOException | RuntimeException | Error e) {
            Freeing.destroy(id);
            throw e;
        }
        QueueLimits granted = new QueueLimits(
                endpoint.device.name(), endpoint.sendSlots, endpoint.receiveSlots, endpoint.inlineLimit);
        endpoint.free();
        return granted;
    }

    /** The service thread's loop, where other descriptors (a TCP listener's) can be watched too. */
    public ServiceLoop service() {
        return service;
    }

    /**
     * Ends the threads, and what is still open: streams are reset, listeners and attempts to connect end. What is asked
     * for later fails. Waits for the device to let go, seconds if need be. Harmless when repeated.
     */
    @Override
    public void close() {
        end(false);
    }

    /** As {@link #close}, after what was written to closed streams is delivered, as when a JVM exits. */
    public void finish() {
        end(true);
    }

    private void end(boolean delivering) {
        boolean interrupted = Thread.interrupted(); // else no wait would wait
        openIds.endListeners();
        openIds.endConnects(); // or an answer would make a stream meanwhile
        awaitTasks();
        if (delivering) {
            streams.abortOpen();
            exitDelay.awaitPeers();
        }
        streams.abortAll(CLOSE_NANOS);
        farewells.end();
        exitDelay.end();
        events.end();
        devices.end();
        service.stop();
        openIds.endConnects(); // whose late answers nobody takes any more
        try {
            reapers.end();
        } catch (InterruptedException e) {
            interrupted = true;
        }
        bundles.close();
        try {
            cm.destroyEventChannel(channel);
        } catch (IOException e) {
            LOG.warn("closing the CM event channel failed", e);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Handles what has arrived. Service thread, not within a callback of the connection manager. */
    public void takeCmEvents() {
        events.takeAll();
    }

    /** Frees something native, soon, on a thread that may take its time. */
    void reap(Runnable free) {
        reapers.reap(free);
    }

    /** Listeners leave to the service thread what they have not handed over. */
    private void awaitTasks() {
        if (!service.isCurrent() && !service.hasEnded()) {
            CountDownLatch done = new CountDownLatch(1);
            service.execute(done::countDown);
            Threads.await(done, CLOSE_NANOS);
        }
    }

    OpenIds openIds() {
        return openIds;
    }

    /** A stream on what is connected. Service thread. */
    RdmaStream established(Endpoint endpoint, ConnData peer) throws IOException {
        InetSocketAddress local = (InetSocketAddress) endpoint.id.getSource();
        InetSocketAddress remote = (InetSocketAddress) endpoint.id.getDestination();
        RdmaStream stream = new RdmaStream(this, endpoint, peer, local, remote);
        try {
            LOG.debug("connected {}", stream);
            streams.add(stream);
        } catch (RuntimeException | Error e) { // the caller frees the endpoint, and others get its queues
            stream.closing().freeing().disown();
            streams.remove(stream);
            throw e;
        }
        return stream;
    }

    /**
     * How many closed streams may have something to deliver still; beyond it, the oldest of those whose peers give no
     * room are reset.
     */
    public void limitClosing(int max) {
        closings.limit(max);
    }

    /**
     * Bytes that may be registered for all streams together. Those that would grow beyond it stay as they are, and a
     * connection that cannot have its least is refused.
     */
    public void limitMemory(long bytes) {
        memory.limit(bytes);
    }

    /** Bytes that are registered now, for streams and for what is kept for streams to come. */
    public long registeredMemory() {
        return memory.used();
    }

    /**
     * Runs {@code action} for each peer to which a connection was lost because its device did not answer, although
     * neither end had closed it, after the local address. On any thread; must not block.
     */
    public void onPathLost(BiConsumer<InetSocketAddress, InetSocketAddress> action) {
        pathLost = action;
    }

    void pathLost(InetSocketAddress local, InetSocketAddress peer) {
        pathLost.accept(local, peer);
    }

    Closings closings() {
        return closings;
    }

    /** As a JVM that exits does. */
    void awaitFarewells() {
        exitDelay.awaitFarewells();
    }

    Farewells farewells() {
        return farewells;
    }

    void forget(RdmaStream stream) {
        streams.remove(stream);
    }

    /** Streams that are not freed yet. */
    public int liveStreams() {
        return streams.count();
    }

    /** What verbs carry it, for people. */
    public String description() {
        return description;
    }

    /** What is open, and all bytes so far. */
    public Totals totals() {
        return streams.totals();
    }

    /** Those that are not freed yet, at this moment. */
    public List<RdmaStream> streams() {
        return streams.now();
    }

    /**
     * Sums over all streams; each number for itself, not of one moment.
     *
     * @param open that the application has not closed
     * @param closing that deliver what was written before they were closed, or are being freed
     * @param bytesRead by the application, of streams that are gone too
     * @param bytesWritten by the application, of streams that are gone too
     * @param registeredBytes of memory that devices hold pinned for them
     */
    public record Totals(int open, int closing, long bytesRead, long bytesWritten, long registeredBytes) {

        /** Of a transport that was never opened. */
        public static final Totals NONE = new Totals(0, 0, 0, 0, 0);
    }

    Cm cm() {
        return cm;
    }

    /**
     * Frees what is kept of connections that are over, for connections to come; it would go by itself after some
     * seconds.
     */
    public void freeIdle() {
        bundles.freeIdle();
    }

    /** What peers did that none may. */
    LimitedLog protocolErrors() {
        return protocolErrors;
    }

    OpenDevices devices() {
        return devices;
    }

    BundlePool bundles() {
        return bundles;
    }

    /** Of listeners made from now on. */
    Admission.Limits limits() {
        return limits;
    }

    /** Others, for a test. */
    void limits(Admission.Limits newLimits) {
        limits = newLimits;
    }

    InlineLimits inlineLimits() {
        return inlineLimits;
    }

    CmChannel channel() {
        return channel;
    }

    ServiceThread serviceThread() {
        return service;
    }

    Leftovers leftovers() {
        return service.leftovers();
    }
}
