/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import com.ibm.disni.verbs.RdmaCm;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.CmId;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.WireException;

/**
 * The active side of a connection: resolve address, resolve route, make the endpoint, connect. Driven by CM events on
 * the service thread; {@code start} runs on the caller's. The lock guards everything, and no CM call waits while it is
 * held.
 *
 * <p>An attempt that is given up after the peer was asked loses its queue pair, so that no answer makes a connection of
 * it, and keeps its id for a while: what the peer says late is worth knowing. When the id goes, the CM takes the
 * request back, and the peer's listener hears of no connection.
 */
final class CmConnect implements PendingConnect, CmHandler {

    /** Each stage of resolution; ARP needs a second at the most before it counts as unreachable. */
    private static final int RESOLVE_MILLIS = 2000;
    /** Between looks whether the service thread, which ends attempts, has itself ended. */
    private static final long SERVICE_CHECK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final RdmaTransport transport;
    private final InetSocketAddress local;
    private final InetSocketAddress remote;
    private final StreamConfig config;
    private final Observer observer;
    private final boolean probe;
    private final long start = System.nanoTime();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition outcome = lock.newCondition();
    private final List<Runnable> actions = new ArrayList<>();
    private CmId id;
    private ConnectionHandles endpoint;
    private boolean asked;
    private boolean late; // given up, but the peer is listened to
    private boolean done;
    private ServiceLoop.Timer limit; // of whoever waits by an event
    private boolean taken;
    private RdmaStream stream;
    private RdmaConnectException failure;

    CmConnect(
            RdmaTransport transport,
            InetSocketAddress local,
            InetSocketAddress remote,
            StreamConfig config,
            Observer observer,
            boolean probe) {
        this.transport = transport;
        this.local = local;
        this.remote = remote;
        this.config = config;
        this.observer = observer;
        this.probe = probe;
    }

    void start() {
        if (observer.mayBegin(this)) {
            resolve();
        }
    }

    @Override
    public void begin() {
        transport.service().execute(this::resolve);
    }

    @Override
    public void endWith(RdmaConnectException why) {
        transport.service().execute(() -> {
            lock.lock();
            try {
                fail(why.reason(), why.getMessage(), why);
            } finally {
                lock.unlock();
            }
            runActions();
        });
    }

    private void resolve() {
        lock.lock();
        try {
            if (done) {
                return;
            }
            Cm cm = transport.cm();
            id = cm.createId(transport.channel(), RdmaCm.RDMA_PS_TCP);
            id.attach(this);
            PathTimers.setAckTimeout(cm, id);
            if (config.typeOfService() != 0) {
                cm.setOption(id, Cm.OPTION_TOS, config.typeOfService());
            }
            if (local != null && local.getPort() != 0) {
                cm.setOption(id, Cm.OPTION_REUSEADDR, 1); // TCP may have held the port just before
            }
            cm.resolveAddr(id, local, remote, RESOLVE_MILLIS);
        } catch (IOException e) {
            fail(reasonOf(e), e.getMessage(), e);
        } catch (RuntimeException | OutOfMemoryError e) {
            fail(Reason.RESOURCES, e.toString(), e);
        } finally {
            lock.unlock();
        }
        runActions();
    }

    private Reason reasonOf(IOException e) {
        return ConnectAnswers.reasonOf(e, local != null && local.getPort() != 0);
    }

    @Override
    public void onCmEvent(CmEvent event) {
        lock.lock();
        try {
            hear(event);
            if (!done) {
                advance(event);
            } else if (late) {
                advanceLate(event);
            }
        } catch (WireException e) {
            fail(Reason.PROTOCOL, "the peer answered, but not with rsocket v1: " + e.getMessage(), e);
        } catch (IOException e) {
            fail(reasonOf(e), e.getMessage(), e);
        } catch (RuntimeException | OutOfMemoryError e) {
            fail(Reason.RESOURCES, e.toString(), e);
        } finally {
            lock.unlock();
        }
        runActions();
    }

    /** With lock. */
    private void hear(CmEvent event) {
        if (!asked || done && !late) {
            return;
        }
        Answer answer = ConnectAnswers.of(event, late);
        if (answer != null) {
            observer.answered(answer);
        }
    }

    /** With lock. */
    private void advanceLate(CmEvent event) {
        switch (event.type()) {
            case RDMA_CM_EVENT_ADDR_CHANGE, RDMA_CM_EVENT_TIMEWAIT_EXIT -> {
                // nothing to a request
            }
            default -> stopListening();
        }
    }

    private void advance(CmEvent event) throws IOException {
        Cm cm = transport.cm();
        switch (event.type()) {
            case RDMA_CM_EVENT_ADDR_RESOLVED -> {
                String device = id.getVerbs().name();
                if (observer.mayUse(device, ((InetSocketAddress) id.getSource()).getAddress())) {
                    cm.resolveRoute(id, RESOLVE_MILLIS);
                } else {
                    fail(Reason.NO_DEVICE, "the route leads to " + device + ", which this may not use", null);
                }
            }
            case RDMA_CM_EVENT_ROUTE_RESOLVED -> {
                endpoint = new ConnectionHandles(transport, id, config, null);
                cm.connect(
                        id,
                        HandshakeParameters.ofRequest(
                                endpoint.connData()
                                        .withFeatures(
                                                ConnectionHandles.FEATURES | (probe ? ConnData.FEATURE_PROBE : 0)),
                                endpoint.device.isIwarp()));
                asked = true;
                observer.asked();
                if (probe) {
                    endpoint.freeQueues(); // before an answer can be fetched: nothing makes a connection of it
                    giveUp(Reason.CANCELLED, "asked for no connection");
                }
            }
            case RDMA_CM_EVENT_ESTABLISHED -> {
                ConnData peer = ConnData.parse(event.privateData());
                stream = transport.established(endpoint, peer);
                endpoint = null; // the stream's now
                id = null;
                done();
            }
            default -> {
                RdmaConnectException why = ConnectAnswers.failure(event);
                if (why != null) {
                    fail(why.reason(), why.getMessage(), null);
                }
            }
        }
    }

    /** With lock. */
    private void fail(Reason reason, String message, Throwable cause) {
        if (done) {
            return;
        }
        failure = new RdmaConnectException(reason, message, cause);
        release();
        done();
    }

    /** With lock. */
    private void done() {
        done = true;
        if (limit != null) {
            limit.cancel(); // else it would hold the stream, which may be over long before
        }
        outcome.signalAll();
    }

    /** With lock. As {@link #fail}, by this side's own will. */
    private void giveUp(Reason reason, String message) {
        if (!done) {
            late = asked && !transport.serviceThread().hasEnded();
            fail(reason, message, null);
        }
    }

    /** With lock. */
    private void failLate() {
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        giveUp(Reason.TIMEOUT, "no RDMA connection within " + millis + " ms");
    }

    /** Gives the native objects to the reaper; with lock. */
    private void release() {
        ConnectionHandles e = endpoint;
        CmId i = id;
        if (late) {
            transport.reap(e::freeQueues);
            transport.listeningLate(this);
            return;
        }
        endpoint = null;
        id = null;
        if (e != null) {
            transport.reap(e::free);
        } else if (i != null) {
            transport.reap(() -> {
                try {
                    i.destroyId(); // when the endpoint's constructor failed this is the second time, and harmless
                } catch (IOException ignored) {
                    // nothing more can be done for an id that will not go
                }
            });
        }
    }

    /** The time for late answers is over. */
    void listenNoMore() {
        lock.lock();
        try {
            stopListening();
        } finally {
            lock.unlock();
        }
    }

    /** With lock. */
    private void stopListening() {
        if (late) {
            late = false;
            transport.listensNoMore(this);
            release();
        }
    }

    private void runActions() {
        List<Runnable> run;
        lock.lock();
        try {
            if (!done || actions.isEmpty()) {
                return;
            }
            run = List.copyOf(actions);
            actions.clear();
        } finally {
            lock.unlock();
        }
        run.forEach(Runnable::run);
    }

    @Override
    public RdmaStream await(long nanos) throws IOException {
        long deadline = System.nanoTime() + nanos;
        return await(() -> nanos == 0 ? Long.MAX_VALUE : deadline - System.nanoTime());
    }

    @Override
    public RdmaStream await(LongSupplier left) throws IOException {
        boolean virtual = Threads.isVirtual();
        boolean interrupted = false;
        boolean expires = false;
        lock.lock();
        try {
            while (!done) {
                try {
                    long nanos = expires ? 0 : left.getAsLong();
                    if (nanos > 0) {
                        outcome.awaitNanos(nanos);
                    } else if (transport.serviceThread().hasEnded()) {
                        failLate();
                    } else {
                        if (!expires) {
                            expires = true;
                            expire(left);
                        }
                        outcome.awaitNanos(SERVICE_CHECK_NANOS);
                    }
                } catch (InterruptedException e) {
                    interrupted = true;
                    if (virtual && !done) { // else it came too late, and the stream would be nobody's
                        giveUp(Reason.CANCELLED, "interrupted while connecting");
                        throw new InterruptedIOException("interrupted while connecting");
                    }
                }
            }
            if (failure != null) {
                throw new RdmaConnectException(failure.reason(), failure.getMessage(), failure);
            }
            taken = true;
            return stream;
        } finally {
            lock.unlock();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            runActions();
        }
    }

    @Override
    public boolean isDone() {
        lock.lock();
        try {
            return done;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public RdmaConnectException failure() {
        lock.lock();
        try {
            return failure;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void onDone(Runnable action) {
        lock.lock();
        try {
            actions.add(action);
        } finally {
            lock.unlock();
        }
        runActions();
    }

    @Override
    public void expire(LongSupplier left) {
        long nanos = left.getAsLong();
        lock.lock();
        try {
            if (done) {
                return;
            }
            if (nanos > 0) {
                if (limit != null) {
                    limit.cancel();
                }
                limit = transport.service().schedule(() -> expire(left), nanos);
                return;
            }
        } finally {
            lock.unlock();
        }
        transport.service().execute(() -> expireNow(left));
    }

    /** On the service thread: no answer is taken meanwhile. */
    private void expireNow(LongSupplier left) {
        transport.takeCmEvents(); // what waited for this thread may be the answer, or the moment to ask
        if (left.getAsLong() > 0) {
            expire(left);
            return;
        }
        ConnectionHandles unanswered;
        lock.lock();
        try {
            if (done) {
                return;
            }
            unanswered = endpoint;
        } finally {
            lock.unlock();
        }
        if (unanswered != null) {
            unanswered.freeQueues(); // before anybody goes to TCP: from here on the peer hears of no connection
        }
        lock.lock();
        try {
            failLate();
        } finally {
            lock.unlock();
        }
        runActions();
    }

    @Override
    public void cancel() {
        RdmaStream unwanted = null;
        lock.lock();
        try {
            giveUp(Reason.CANCELLED, "cancelled");
            if (stream != null && !taken) {
                taken = true;
                unwanted = stream;
                failure = new RdmaConnectException(Reason.CANCELLED, "cancelled", null);
            }
        } finally {
            lock.unlock();
        }
        if (unwanted != null) {
            unwanted.abort();
        }
        runActions();
    }
}
