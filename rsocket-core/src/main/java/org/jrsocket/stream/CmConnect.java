/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.WireException;

/**
 * The active side of a connection: resolve the address, resolve the route and make the endpoint meanwhile, connect.
 * Driven by CM events on the service thread; {@code start} runs on the caller's. The lock guards everything, and no CM
 * call waits while it is held, unless the service ibacm runs: librdmacm asks that for the route, and waits.
 *
 * <p>An attempt that is given up after the peer was asked loses its queue pair, so that no answer makes a connection of
 * it, and keeps its id for a while: what the peer says late is worth knowing. When the id goes, the CM takes the
 * request back, and the peer's listener hears of no connection.
 */
final class CmConnect implements PendingConnect, CmHandler {

    /** Between looks whether the service thread, which ends attempts, has itself ended. */
    private static final long SERVICE_CHECK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final RdmaTransport transport;
    private final ConnectRequest request;
    private final Observer observer;
    private final long start = System.nanoTime();

    private final PatientLock lock = new PatientLock();
    private final List<Runnable> actions = new ArrayList<>();
    private boolean late; // given up, but the peer is listened to
    private boolean done;
    private ServiceLoop.Timer limit; // of whoever waits by an event
    private Thread waiter; // null if nobody waits
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
        this.request = new ConnectRequest(transport, local, remote, config, probe);
        this.observer = observer;
    }

    void start() {
        lock.lock();
        try {
            if (done) {
                return;
            }
            transport.openIds().add(this);
            request.resolveAddress(this);
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            fail(e);
        } finally {
            lock.unlock();
        }
        runActions();
    }

    @Override
    public void onCmEvent(CmEvent event) {
        lock.lock();
        try {
            hear(event);
            if (!done) {
                advance(event);
            } else if (late && !ConnectAnswers.isNothing(event)) {
                stopListening();
            }
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            fail(e);
        } finally {
            lock.unlock();
        }
        runActions();
    }

    /** With lock. */
    private void hear(CmEvent event) {
        Answer answer = request.wasAsked() && (!done || late) ? ConnectAnswers.of(event, late) : null;
        if (answer != null) {
            observer.answered(answer);
        }
    }

    private void advance(CmEvent event) throws IOException {
        switch (event.type()) {
            case RDMA_CM_EVENT_ADDR_RESOLVED -> {
                String device = request.device();
                if (observer.mayUse(device, request.source())) {
                    request.resolveRoute();
                    request.makeEndpoint();
                } else {
                    fail(Reason.NO_DEVICE, "the route leads to " + device + ", which this may not use", null);
                }
            }
            case RDMA_CM_EVENT_ROUTE_RESOLVED -> {
                request.ask();
                observer.asked();
                if (request.isProbe()) {
                    request.endpoint().freeQueues(); // nothing makes a connection of an answer
                    giveUp(Reason.CANCELLED, "asked for no connection");
                }
            }
            case RDMA_CM_EVENT_ESTABLISHED -> {
                stream = request.established(ConnData.parse(event.privateData()));
                done();
            }
            default -> {
                RdmaConnectException why = ConnectAnswers.failure(event);
                if (why != null) {
                    failThere(why.reason(), why.getMessage(), null);
                }
            }
        }
    }

    /** With lock. */
    private void fail(Throwable e) {
        if (e instanceof WireException) {
            failThere(Reason.PROTOCOL, "the peer answered, but not with rsocket v1: " + e.getMessage(), e);
        } else if (e instanceof RdmaConnectException named) {
            fail(named.reason(), named.getMessage(), named.getCause());
        } else if (e instanceof IOException io) {
            fail(ConnectAnswers.reasonOf(io, request.isFromPort()), e.getMessage(), e);
        } else {
            fail(Reason.RESOURCES, e.toString(), e);
        }
    }

    /** With lock. For words that do not say that they are of RDMA, and where. */
    private void failThere(Reason reason, String message, Throwable cause) {
        fail(reason, message + ": RDMA to " + request.where(), cause);
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
        if (!late) {
            transport.openIds().remove(this);
        }
        if (limit != null) {
            limit.cancel(); // else it would hold the stream, which may be over long before
        }
        LockSupport.unpark(waiter);
    }

    /** With lock. As {@link #fail}, by this side's own will. */
    private void giveUp(Reason reason, String message) {
        if (!done) {
            late = request.wasAsked() && !transport.serviceThread().hasEnded();
            fail(reason, message, null);
        }
    }

    /** With lock. */
    private void failLate() {
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        giveUp(Reason.TIMEOUT, "no RDMA connection to " + request.where() + " within " + millis + " ms");
    }

    /** With lock. */
    private void release() {
        if (late) {
            request.releaseQueues();
            transport.service().schedule(this::listenNoMore, LATE_NANOS);
        } else {
            request.release();
        }
    }

    /** The time for late answers is over. */
    private void listenNoMore() {
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
            transport.openIds().remove(this);
            release();
        }
    }

    /** The transport is closed. */
    void end() {
        lock.lock();
        try {
            fail(Reason.RESOURCES, "the RDMA transport was closed", null); // not to listen for a late answer
            stopListening();
        } finally {
            lock.unlock();
        }
        runActions();
    }

    private void runActions() {
        for (Runnable next = nextAction(); next != null; next = nextAction()) {
            next.run();
        }
    }

    private Runnable nextAction() {
        lock.lock();
        try {
            return done && !actions.isEmpty() ? actions.remove(0) : null;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public RdmaStream await(LongSupplier left) throws IOException {
        boolean interrupted = false;
        boolean expires = false;
        lock.lock();
        try {
            if (transport.serviceThread().isCurrent()) { // a logger's connection, perhaps; nobody else takes the answer
                giveUp(Reason.RESOURCES, "the service thread cannot wait for a connection that it has to make");
            }
            while (!done) {
                long nanos = expires ? 0 : left.getAsLong();
                if (transport.serviceThread().hasEnded()) {
                    failLate();
                    continue;
                }
                if (nanos <= 0 && !expires) {
                    expires = true;
                    expire(left);
                }
                interrupted |= sleep(nanos > 0 ? Math.min(nanos, SERVICE_CHECK_NANOS) : SERVICE_CHECK_NANOS);
                if (interrupted
                        && Threads.isVirtual()
                        && !done) { // else it came too late, and the stream would be nobody's
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

    /** With the lock, free meanwhile. Whether the thread was interrupted, which its status does not say any more. */
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
        Endpoint unanswered;
        lock.lock();
        try {
            if (done) {
                return;
            }
            unanswered = request.endpoint();
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
            unwanted.close(); // its peer may have accepted it, and reads the end as over TCP
        }
        runActions();
    }
}
