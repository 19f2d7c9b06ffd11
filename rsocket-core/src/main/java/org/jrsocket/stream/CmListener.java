/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import com.ibm.disni.verbs.RdmaCm;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.CmId;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Refusal;
import org.jrsocket.wire.WireException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The passive side: every request is checked, answered and established by events, many at a time, so that a client that
 * never completes the handshake delays nobody; {@link Admission} bounds how many there are of these. A request that
 * cannot be answered for now waits a second at most, then it is refused as "busy": one of our clients takes that for a
 * reason to try again, a C client for a refusal.
 */
final class CmListener implements RdmaListener, CmHandler {

    private static final Logger LOG = LoggerFactory.getLogger(CmListener.class);

    /**
     * Requests that the kernel keeps until they are fetched: its own maximum, since those beyond it are dropped without
     * a word.
     */
    private static final int KERNEL_BACKLOG = 1024;

    /** Between two tries to listen again after a device was removed. */
    private static final long AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /**
     * Refusals that may wait for a reaper. What is beyond is refused where it is read: whoever asks decides how often,
     * and must not decide how much memory that takes. The kernel drops what nobody reads in time.
     */
    private static final int MOST_REFUSING = 64;

    private static final byte[] NOTHING = new byte[0];

    private final RdmaTransport transport;
    private final StreamConfig config;
    private final Access access;
    private final int backlog;
    private final Admission.Limits limits;
    private final LimitedLog refusals = new LimitedLog(LOG);
    private final LimitedLog failures = new LimitedLog(LOG);
    private final AtomicInteger refusing = new AtomicInteger();
    private volatile InetSocketAddress address;

    // Guarded by this.
    private CmId id; // null while there is no device
    private final Queue<RdmaStream> ready = new ArrayDeque<>();
    private final Admission admission;
    private final Set<Handshake> handshakes = new HashSet<>();
    private boolean timing;
    private Runnable action;
    private boolean closed;
    /** Service thread only. */
    private boolean answering;

    private CmListener(RdmaTransport transport, int backlog, StreamConfig config, Access access) {
        this.transport = transport;
        this.backlog = Math.max(1, backlog);
        this.config = config;
        this.access = access;
        this.limits = transport.limits();
        this.admission = new Admission(limits);
    }

    static CmListener open(
            RdmaTransport transport, InetSocketAddress local, int backlog, StreamConfig config, Access access)
            throws IOException {
        CmListener listening = new CmListener(transport, backlog, config, access);
        CmId id = listening.listen(local);
        synchronized (listening) {
            listening.id = id;
        }
        return listening;
    }

    private CmId listen(InetSocketAddress local) throws IOException {
        Cm cm = transport.cm();
        CmId fresh = cm.createId(transport.channel(), RdmaCm.RDMA_PS_TCP);
        try {
            fresh.attach(this);
            // the kernel keeps an rsocket's port busy a while after its last connection
            cm.setOption(fresh, Cm.OPTION_REUSEADDR, 1);
            if (local.getAddress() instanceof Inet6Address) {
                cm.setOption(fresh, Cm.OPTION_AFONLY, 0);
            }
            cm.bindAddr(fresh, local);
            address = (InetSocketAddress) fresh.getSource();
            cm.listen(fresh, KERNEL_BACKLOG);
        } catch (IOException | RuntimeException e) {
            fresh.destroyId();
            throw e;
        }
        return fresh;
    }

    /** The kernel has closed the listener with its device. Service thread. */
    private void deviceRemoved() {
        CmId dead;
        synchronized (this) {
            if (closed || id == null) {
                return;
            }
            dead = id;
            id = null;
        }
        LOG.warn("the {} has lost its device; it listens again when there is one", this);
        destroy(dead);
        listenAgain();
    }

    /** Service thread. */
    private void listenAgain() {
        synchronized (this) {
            if (closed) {
                return;
            }
        }
        CmId fresh;
        try {
            fresh = listen(address);
        } catch (IOException | RuntimeException e) {
            LOG.debug("the {} is still without a device", this, e);
            transport.service().schedule(this::listenAgain, AGAIN_NANOS);
            return;
        }
        synchronized (this) {
            if (!closed) {
                id = fresh;
                fresh = null;
            }
        }
        if (fresh == null) {
            LOG.info("the {} listens again", this);
        } else {
            destroy(fresh);
        }
    }

    @Override
    public InetSocketAddress localAddress() {
        return address;
    }

    StreamConfig config() {
        return config;
    }

    Admission.Limits limits() {
        return limits;
    }

    LimitedLog failures() {
        return failures;
    }

    @Override
    public String toString() {
        return "RDMA listener on " + address;
    }

    @Override
    public void onCmEvent(CmEvent event) {
        switch (event.type()) {
            case RDMA_CM_EVENT_CONNECT_REQUEST -> onRequest(event.id(), event.privateData());
            case RDMA_CM_EVENT_DEVICE_REMOVAL -> deviceRemoved();
            default -> LOG.debug("listener on {}: {}", address, event);
        }
    }

    private void onRequest(CmId request, byte[] privateData) {
        ConnData peer;
        Admission.Request asked;
        try {
            InetAddress source = ((InetSocketAddress) request.getDestination()).getAddress();
            InetAddress local = ((InetSocketAddress) request.getSource()).getAddress();
            if (!access.admits(
                    source,
                    new InetSocketAddress(local, address.getPort()),
                    request.getVerbs().name())) {
                refusals.warn("RDMA connection request to {} from {} refused: no rule admits it", address, source);
                refuse(request, Refusal.encode(Refusal.DENIED));
                return;
            }
            peer = ConnData.parse(privateData);
            asked = new Admission.Request(request, peer, source, System.nanoTime());
        } catch (WireException e) {
            refusals.warn("RDMA connection request to {} refused: {}", address, e.getMessage());
            refuse(request, NOTHING);
            return;
        } catch (IOException | RuntimeException e) { // gone already
            LOG.debug("RDMA connection request to {} from nobody", address, e);
            refuse(request, NOTHING);
            return;
        }
        if (peer.hasFeature(ConnData.FEATURE_PROBE)) {
            refuse(request, Refusal.encode(Refusal.PROBED));
            return;
        }
        boolean busy;
        synchronized (this) {
            busy = !closed && (isFull() || !admission.mayOpen(asked.source()));
            if (busy && admission.hold(asked)) {
                watchTime();
                return;
            }
        }
        if (busy) {
            refuseBusy(asked);
        } else {
            answer(asked);
        }
    }

    /** Requests that wait, for the application to accept or for other handshakes to end. */
    synchronized int held() {
        return admission.held();
    }

    /** Handshakes under way. */
    synchronized int halfOpen() {
        return handshakes.size();
    }

    /** With this object's lock. Handshakes under way do not count: whoever leaves them so must not keep others out. */
    private boolean isFull() {
        return ready.size() >= backlog;
    }

    /** On the service thread, like everything that makes or ends handshakes. */
    private void answer(Admission.Request asked) {
        Handshake handshake = new Handshake(this, transport, asked);
        synchronized (this) {
            if (closed) {
                refuse(asked.id(), NOTHING);
                return;
            }
            handshakes.add(handshake);
            admission.opened(asked.source());
            watchTime();
        }
        handshake.answer();
    }

    /**
     * With this object's lock: sees to it that what takes too long is noticed. One timer for all, which ends with the
     * last of them.
     */
    private void watchTime() {
        if (!timing && !closed && (admission.held() > 0 || !handshakes.isEmpty())) {
            timing = true;
            transport.service().schedule(this::checkTime, tick());
        }
    }

    long tick() {
        return Math.min(limits.handshakeNanos(), limits.heldNanos()) / 4 + 1;
    }

    /** Service thread, not within a callback of the connection manager. */
    void checkTime() {
        transport.takeCmEvents(); // a thread that is behind must not take that for a silence of its clients
        List<Handshake> pending;
        boolean wanted;
        synchronized (this) {
            timing = false;
            if (closed) {
                return;
            }
            admission.expired(System.nanoTime()).forEach(this::refuseBusy);
            pending = List.copyOf(handshakes);
            wanted = admission.held() > 0 && !isFull(); // their places
            watchTime();
        }
        pending.forEach(handshake -> handshake.checkTime(wanted ? limits.graceNanos() : limits.handshakeNanos()));
    }

    private void refuseBusy(Admission.Request asked) {
        LOG.debug("RDMA connection request to {} from {} refused: busy", address, asked.source());
        refuse(asked.id(), busy(asked.peer()));
    }

    /** What {@code peer} is told where there is no room for one more connection. */
    static byte[] busy(ConnData peer) {
        return peer.hasExtension() ? Refusal.encode(Refusal.BUSY) : NOTHING;
    }

    private void refuse(CmId request, byte[] reason) {
        if (refusing.incrementAndGet() <= MOST_REFUSING || Thread.holdsLock(this)) {
            transport.reap(() -> refuseNow(request, reason));
        } else {
            refuseNow(request, reason);
        }
    }

    private void refuseNow(CmId request, byte[] reason) {
        refusing.decrementAndGet();
        try {
            transport.cm().reject(request, reason);
        } catch (IOException e) {
            LOG.debug("rejecting a request to {} failed", address, e);
        }
        destroy(request);
    }

    private static void destroy(CmId request) {
        try {
            request.destroyId();
        } catch (IOException e) {
            LOG.debug("destroying a CM id failed", e);
        }
    }

    @Override
    public synchronized RdmaStream poll() {
        RdmaStream stream = ready.poll();
        if (stream != null && admission.held() > 0) {
            transport.service().execute(this::answerHeld);
        }
        return stream;
    }

    /**
     * Service thread. An answer that fails at once comes back here, and must not answer the next one from within: there
     * may be a thousand.
     */
    private void answerHeld() {
        if (answering) {
            return;
        }
        answering = true;
        try {
            for (Admission.Request asked = nextHeld(); asked != null; asked = nextHeld()) {
                answer(asked);
            }
        } finally {
            answering = false;
        }
    }

    private synchronized Admission.Request nextHeld() {
        return closed || isFull() ? null : admission.next();
    }

    @Override
    public void onReady(Runnable newAction) {
        synchronized (this) {
            action = newAction;
            if (newAction == null || ready.isEmpty()) {
                return;
            }
        }
        newAction.run();
    }

    void established(Handshake handshake, RdmaStream stream) {
        Runnable call;
        synchronized (this) {
            over(handshake);
            if (closed) {
                stream.abort();
                return;
            }
            call = ready.isEmpty() ? action : null;
            ready.add(stream);
        }
        if (call != null) {
            call.run();
        }
        answerHeld();
    }

    void failed(Handshake handshake) {
        synchronized (this) {
            over(handshake);
        }
        answerHeld();
    }

    /** With this object's lock. */
    private void over(Handshake handshake) {
        if (handshakes.remove(handshake)) {
            admission.over(handshake.asked.source());
        }
    }

    @Override
    public void close() {
        CmId listener;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            action = null;
            listener = id;
            id = null;
        }
        // At once, so that the port is free when this returns. Requests not answered are refused, streams not taken are
        // reset.
        if (listener != null) {
            destroy(listener);
        }
        transport.service().execute(() -> {
            synchronized (this) {
                ready.forEach(RdmaStream::abort);
                ready.clear();
                admission.takeHeld().forEach(asked -> refuse(asked.id(), NOTHING));
                Set.copyOf(handshakes).forEach(Handshake::giveUp);
                handshakes.clear();
            }
        });
    }
}
