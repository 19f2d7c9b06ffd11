/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.threads.PatientLock;
import org.jrsocket.threads.ServiceThread;
import org.jrsocket.threads.Threads;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.wire.ConnData;

/**
 * The active side of a connection: resolves the address, resolves the route while a maker makes the endpoint, asks the
 * peer, has a maker prepare the queue pair for its answer, and tells the peer that it is connected. Driven by CM events
 * on the service thread; {@code start} runs on the caller's. The lock guards everything, and no CM call waits while it
 * is held, unless the service ibacm runs: librdmacm asks that for the route, and waits.
 *
 * <p>The peer is told with the lock held, and never after the attempt was given up. An attempt that is given up after
 * the peer was asked keeps its id for a while, because a late answer of the peer is worth knowing. When the id is
 * destroyed, the CM withdraws the request, and the peer's listener is told of no connection.
 */
final class CmConnect implements PendingConnect, CmHandler, ConnectLimit.Attempt, OpenIds.Attempt {

    /** The time between two checks whether the service thread, which ends attempts, has itself ended. */
    private static final long SERVICE_CHECK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final CmServices cmServices;
    private final ServiceThread service;
    private final ConnectRequest request;
    private final Observer observer;
    private final ConnectLimit limit; // of a caller that waits for an event
    private final long start = System.nanoTime();

    private final PatientLock lock = new PatientLock();
    // Made beforehand: later there may be no memory left.
    private final ConnectRequest.Step passOn = this::passOn;
    private final ConnectRequest.Step establish = this::establish;
    private final ConnectRequest.Step failLate = this::failLate;
    private final ConcurrentLinkedQueue<Runnable> actions = new ConcurrentLinkedQueue<>();
    private boolean late; // given up, but still listening for the peer
    private volatile boolean done; // written with the lock held
    private Thread waiter; // null if no thread waits
    private boolean taken;
    private RdmaStream stream;
    private volatile RdmaConnectException failure; // likewise

    CmConnect(
            CmServices cmServices,
            InetSocketAddress local,
            InetSocketAddress remote,
            StreamConfig config,
            Observer observer,
            boolean probe) {
        this.cmServices = cmServices;
        this.service = cmServices.services.service;
        this.request = new ConnectRequest(cmServices, local, remote, config, probe);
        this.observer = observer;
        this.limit = new ConnectLimit(service, cmServices.events, this);
    }

    /** Takes a step, and then runs the actions of an attempt that has ended. */
    private void locked(ConnectRequest.Step step) {
        lock.lock();
        try {
            step.take();
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            fail(request.failed(e));
        } finally {
            lock.unlock();
        }
        runActions();
    }

    void start() {
        locked(() -> {
            if (!done) {
                cmServices.openIds.add(this);
                request.resolveAddress(this);
            }
        });
    }

    @Override
    public void onCmEvent(CmEvent event) {
        Object heir = this;
        lock.lock();
        try {
            hear(event);
            if (!done) {
                advance(event);
            } else if (late && !ConnectAnswers.isNothing(event)) {
                stopListening();
            } else if (stream != null) { // a maker has made it since the service thread has looked
                heir = event.id().attachment();
            }
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            fail(request.failed(e));
        } finally {
            lock.unlock();
        }
        runActions();
        request.log();
        if (heir != this) {
            ((CmHandler) heir).onCmEvent(event);
        }
    }

    /** Called with the lock held. */
    private void hear(CmEvent event) {
        Answer answer = request.isUnanswered() && (!done || late) ? ConnectAnswers.of(event) : null;
        if (answer != null) {
            observer.answered(answer);
        }
    }

    private void advance(CmEvent event) throws IOException {
        switch (event.type()) {
            case RDMA_CM_EVENT_ADDR_RESOLVED -> {
                String device = request.device().name();
                if (observer.mayUse(device, request.source())) {
                    request.resolveRoute(this::make, observer.isPatient());
                } else {
                    fail(Reason.NO_DEVICE, "the route leads to " + device + ", which is not allowed here");
                }
            }
            case RDMA_CM_EVENT_ROUTE_RESOLVED -> {
                observer.routed();
                if (request.isRouted()) {
                    ask();
                }
            }
            case RDMA_CM_EVENT_CONNECT_RESPONSE ->
                request.answered(ConnData.parse(event.privateData()), this::complete);
            case RDMA_CM_EVENT_ESTABLISHED -> { // over iWARP
                stream = request.established(ConnData.parse(event.privateData()));
                done();
            }
            default -> {
                RdmaConnectException why = ConnectAnswers.failure(event);
                if (why != null) {
                    fail(request.failedThere(why.reason(), why.getMessage(), null));
                }
            }
        }
    }

    /** Makes the endpoint. Runs on a maker. */
    private void make() {
        request.makeEndpoint(lock);
        locked(passOn);
    }

    /** Called with the lock held. */
    private void passOn() throws IOException {
        if (request.isReady()) {
            ask();
        }
    }

    /** Called with the lock held. */
    private void ask() throws IOException {
        request.ask();
        observer.asked();
        if (request.isProbe()) {
            giveUp(Reason.CANCELLED, "this was only a probe");
        }
    }

    /** Completes the connection that the peer has agreed to. Runs on a maker. */
    private void complete() {
        request.prepareQueues(lock);
        locked(establish);
        request.log();
    }

    /** Called with the lock held. */
    private void establish() throws IOException {
        if (request.isReady() && !done) {
            stream = request.establish();
            done();
        }
    }

    /** Called with the lock held. */
    private void fail(Reason reason, String message) {
        fail(new RdmaConnectException(reason, message, null));
    }

    /** Called with the lock held. */
    private void fail(RdmaConnectException why) {
        if (!done) {
            failure = why;
            try {
                release();
            } finally {
                done();
            }
        }
    }

    /** Called with the lock held. */
    private void done() {
        done = true;
        if (!late) {
            cmServices.openIds.remove(this);
        }
        limit.cancel();
        LockSupport.unpark(waiter);
    }

    /** Fails like {@link #fail}, but by this side's own decision. Called with the lock held. */
    private void giveUp(Reason reason, String message) {
        if (!done) {
            late = request.isUnanswered() && !service.hasEnded();
            fail(reason, message);
        }
    }

    /** Called with the lock held. */
    private void failLate() {
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        String limits = " within " + millis + " ms" + request.obstacle();
        giveUp(Reason.TIMEOUT, "no RDMA connection to " + request.where() + limits);
    }

    /** Called with the lock held. */
    private void release() {
        if (late) {
            try {
                cmServices.afterEvents(LATE_NANOS, () -> locked(this::stopListening));
                if (request.releaseQueues()) {
                    return;
                }
            } catch (OutOfMemoryError e) {
                // as if no reaper freed them; or nothing would end it
            }
            late = false;
        }
        request.release();
    }

    /** Called with the lock held. */
    private void stopListening() {
        if (late) {
            late = false;
            cmServices.openIds.remove(this);
            release();
        }
    }

    @Override
    public void end() {
        locked(() -> {
            if (!done) {
                fail(Reason.RESOURCES, "the RDMA transport was closed"); // without listening for a late answer
            }
            stopListening();
        });
    }

    /** Runs them all, even if one fails. Called without the lock. */
    private void runActions() {
        request.freeLeft();
        Runnable next = done ? actions.poll() : null;
        if (next != null) {
            try {
                next.run();
            } finally {
                runActions();
            }
        }
    }

    @Override
    public RdmaStream await(LongSupplier left) throws IOException {
        boolean interrupted = false;
        boolean expires = false;
        lock.lock();
        try {
            if (service.isCurrent() || cmServices.services.makers.isCurrent()) { // for a logger, perhaps
                giveUp(Reason.RESOURCES, "a thread cannot wait for a connection that it must make itself");
            }
            while (!done) {
                long nanos = expires ? 0 : left.getAsLong();
                if (isAlone(expires)) {
                    failLate();
                    continue;
                }
                if (nanos <= 0 && !expires) {
                    expires = true;
                    expire(left);
                }
                interrupted |= sleep(nanos > 0 ? Math.min(nanos, SERVICE_CHECK_NANOS) : SERVICE_CHECK_NANOS);
                if (interrupted && Threads.isVirtual() && !done) { // otherwise too late: nobody would own the stream
                    giveUp(Reason.CANCELLED, "interrupted while connecting");
                    throw new InterruptedIOException("interrupted while connecting");
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

    /** Returns whether the service thread will not end the attempt in time: it has ended, or hangs in a driver. */
    private boolean isAlone(boolean expires) {
        return service.hasEnded() || expires && service.hungNanos() > 0;
    }

    /** Sleeps with the lock released. Returns whether the thread was interrupted; its status no longer says so. */
    private boolean sleep(long nanos) {
        waiter = Thread.currentThread();
        lock.unlock();
        try {
            LockSupport.parkNanos(this, nanos);
            return Thread.interrupted();
        } finally {
            lock.lock();
            waiter = null;
        }
    }

    @Override
    public boolean isDone() {
        return done;
    }

    @Override
    public RdmaConnectException failure() {
        return failure;
    }

    @Override
    public void onDone(Runnable action) {
        actions.add(action);
        runActions();
    }

    @Override
    public void expire(LongSupplier left) {
        long nanos = left.getAsLong();
        lock.lock();
        try {
            if (!done) {
                limit.set(left, nanos);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void expireNow() {
        locked(failLate);
    }

    @Override
    public boolean isBeingMade() {
        return !done && request.isBeingMade();
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
        } catch (OutOfMemoryError e) {
            fail(request.failed(e));
        } finally {
            lock.unlock();
        }
        if (unwanted != null) {
            unwanted.close(); // the peer may have accepted it, and then reads the end as over TCP
        }
        runActions();
    }
}
