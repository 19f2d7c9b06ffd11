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
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.CmId;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.WireException;

/**
 * The active side of a connection: resolve address, resolve route, make the endpoint, connect. Driven by CM events on the service thread;
 * {@code start} runs on the caller's. The lock guards everything, and no CM call waits while it is held.
 */
final class CmConnect implements PendingConnect, CmHandler {

    /** Each stage of resolution; ARP needs a second at the most before it counts as unreachable. */
    private static final int RESOLVE_MILLIS = 2000;
    /** IB's reject reason "invalid service ID": nobody listens. */
    private static final int REJECT_NO_LISTENER = 8;

    private final RdmaTransport transport;
    private final InetSocketAddress local;
    private final InetSocketAddress remote;
    private final StreamConfig config;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition outcome = lock.newCondition();
    private final List<Runnable> actions = new ArrayList<>();
    private CmId id;
    private ConnectionHandles endpoint;
    private boolean done;
    private boolean taken;
    private RdmaStream stream;
    private RdmaConnectException failure;

    CmConnect(RdmaTransport transport, InetSocketAddress local, InetSocketAddress remote, StreamConfig config) {
        this.transport = transport;
        this.local = local;
        this.remote = remote;
        this.config = config;
    }

    void start() {
        lock.lock();
        try {
            Cm cm = transport.cm();
            id = cm.createId(transport.channel(), RdmaCm.RDMA_PS_TCP);
            id.attach(this);
            if (config.typeOfService() != 0) {
                cm.setOption(id, Cm.OPTION_TOS, config.typeOfService());
            }
            if (local != null && local.getPort() != 0) {
                cm.setOption(id, Cm.OPTION_REUSEADDR, 1); // TCP may have held the port just before
            }
            cm.resolveAddr(id, local, remote, RESOLVE_MILLIS);
        } catch (IOException e) {
            fail(reasonOf(e), e.getMessage(), e);
        } finally {
            lock.unlock();
        }
        runActions();
    }

    private Reason reasonOf(IOException e) {
        if (!(e instanceof ErrnoException v)) {
            return Reason.RESOURCES;
        }
        return switch (v.errno()) {
            case Errno.ENODEV, Errno.EINVAL -> Reason.NO_DEVICE;
            // It is also what the kernel says of a port that somebody else has at the wildcard address.
            case Errno.EADDRNOTAVAIL -> local != null && local.getPort() != 0 ? Reason.RESOURCES : Reason.NO_DEVICE;
            case Errno.ENETUNREACH, Errno.EHOSTUNREACH -> Reason.UNRESOLVED;
            default -> Reason.RESOURCES;
        };
    }

    @Override
    public void onCmEvent(CmEvent event) {
        lock.lock();
        try {
            if (!done) {
                advance(event);
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

    private void advance(CmEvent event) throws IOException {
        Cm cm = transport.cm();
        int status = event.getStatus();
        switch (event.type()) {
            case RDMA_CM_EVENT_ADDR_RESOLVED -> cm.resolveRoute(id, RESOLVE_MILLIS);
            case RDMA_CM_EVENT_ROUTE_RESOLVED -> {
                endpoint = new ConnectionHandles(cm, transport.bundles(), id, config);
                cm.connect(id, RdmaTransport.param(endpoint.connData().withFeatures(ConnData.FEATURE_RESET),
                        endpoint.device.isIwarp()));
            }
            case RDMA_CM_EVENT_ESTABLISHED -> {
                ConnData peer = ConnData.parse(event.privateData());
                stream = transport.established(endpoint, peer);
                endpoint = null; // the stream's now
                id = null;
                done = true;
                outcome.signalAll();
            }
            case RDMA_CM_EVENT_ADDR_ERROR -> fail(status == -Errno.ENODEV ? Reason.NO_DEVICE : Reason.UNRESOLVED,
                    "address not resolved: " + Errno.describe(Math.abs(status)), null);
            case RDMA_CM_EVENT_ROUTE_ERROR -> fail(Reason.UNRESOLVED, "route not resolved: " + Errno.describe(Math.abs(status)), null);
            case RDMA_CM_EVENT_REJECTED -> fail(Reason.REFUSED,
                    status == REJECT_NO_LISTENER || status == -Errno.ECONNREFUSED ? "Connection refused" : "Connection refused (reject reason " + status + ")", null);
            case RDMA_CM_EVENT_UNREACHABLE -> fail(Reason.UNREACHABLE, "the peer does not answer RDMA connection requests", null);
            // EINVAL: its answer can no longer be used, because it went away right after it.
            case RDMA_CM_EVENT_CONNECT_ERROR -> fail(status == -Errno.EINVAL ? Reason.REFUSED : Reason.RESOURCES, "connecting failed: " + Errno.describe(Math.abs(status)), null);
            case RDMA_CM_EVENT_DISCONNECTED -> fail(Reason.REFUSED, "Connection reset while connecting", null);
            case RDMA_CM_EVENT_DEVICE_REMOVAL -> fail(Reason.NO_DEVICE, "the device was removed", null);
            default -> {
                // Address changes and the end of time-wait are nothing to a connection being made.
            }
        }
    }

    /** With lock. */
    private void fail(Reason reason, String message, Throwable cause) {
        if (done) {
            return;
        }
        done = true;
        failure = new RdmaConnectException(reason, message, cause);
        release();
        outcome.signalAll();
    }

    /** With lock. */
    private void failLate(long nanos) {
        fail(Reason.TIMEOUT, "no RDMA connection within " + TimeUnit.NANOSECONDS.toMillis(nanos) + " ms", null);
    }

    /** Gives the native objects to the reaper; with lock. */
    private void release() {
        ConnectionHandles e = endpoint;
        CmId i = id;
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
        boolean virtual = Threads.isVirtual();
        boolean interrupted = false;
        lock.lock();
        try {
            long deadline = System.nanoTime() + nanos;
            while (!done) {
                try {
                    if (nanos == 0) {
                        outcome.await();
                        continue;
                    }
                    long left = deadline - System.nanoTime();
                    if (left <= 0) {
                        failLate(nanos);
                    } else {
                        outcome.awaitNanos(left);
                    }
                } catch (InterruptedException e) {
                    interrupted = true;
                    if (virtual && !done) { // else it came too late, and the stream would be nobody's
                        fail(Reason.CANCELLED, "interrupted while connecting", null);
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
    public void expire(long nanos) {
        lock.lock();
        try {
            failLate(nanos);
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
            fail(Reason.CANCELLED, "cancelled", null);
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
