/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import org.jrsocket.endpoint.Freeing;
import org.jrsocket.threads.ServiceLoop;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.CmId;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Refusal;

/**
 * The passive side: every request is checked, answered and established by events, many at a time, so that a client that
 * never completes the handshake delays nobody. {@link Admission} bounds the number of such clients. A request that
 * cannot be answered for now waits for a second, or up to a quarter more, because a timer looks four times in that
 * time. It is then refused: our own clients are told "busy" and ask again with their next connection, C clients see a
 * refusal like any other.
 */
final class CmListener implements RdmaListener, CmHandler, Handshake.Listener {

    private final CmServices cmServices;
    private final ServiceLoop service;
    private final StreamConfig config;
    private final int backlog;
    private final Admission.Limits limits;
    private final Refusals refusals;
    private final RequestCheck requests;
    private final ListeningId id;
    private final Runnable check = this::checkTime; // made now, as they are needed where memory is lacking
    private final Runnable answer = this::answerHeld;
    private final Runnable end = this::end;

    // Guarded by this.
    private final Queue<RdmaStream> ready = new LinkedBlockingQueue<>(); // loses none where memory is lacking
    private final Admission admission;
    private final Set<Handshake> handshakes = new HashSet<>();
    private Runnable action;
    private volatile boolean closed; // may be read without it
    private boolean timing; // used on the service thread only, as the next
    private boolean answering;

    private CmListener(CmServices cmServices, int backlog, StreamConfig config, Access access) {
        this.cmServices = cmServices;
        this.service = cmServices.services.service;
        this.backlog = Math.max(1, backlog);
        this.config = config;
        this.limits = cmServices.limits();
        this.refusals = new Refusals(cmServices.services.cm, cmServices.services.reapers::reap, this);
        this.requests = new RequestCheck(access, refusals);
        this.id = new ListeningId(cmServices.services, this);
        this.admission = new Admission(limits);
    }

    /**
     * Opens a listener.
     *
     * @param patience how long to wait until the port is free, for a listener that listens later; null to listen now
     */
    static CmListener open(
            CmServices cmServices,
            InetSocketAddress local,
            int backlog,
            StreamConfig config,
            Access access,
            RdmaListener.Patience patience)
            throws IOException {
        CmListener listening = new CmListener(cmServices, backlog, config, access);
        boolean open = false;
        try {
            cmServices.openIds.add(listening);
            if (patience != null) {
                listening.id.openWhenFree(local, patience);
            } else {
                listening.id.open(local);
            }
            open = true;
        } finally {
            if (!open) {
                cmServices.openIds.remove(listening);
            }
        }
        return listening;
    }

    @Override
    public InetSocketAddress localAddress() {
        return id.address();
    }

    /** For tests. */
    Refusals refusals() {
        return refusals;
    }

    @Override
    public String toString() {
        return "RDMA listener on " + localAddress();
    }

    @Override
    public void onCmEvent(CmEvent event) {
        switch (event.type()) {
            case RDMA_CM_EVENT_CONNECT_REQUEST -> onRequest(event.id(), event.privateData());
            case RDMA_CM_EVENT_DEVICE_REMOVAL -> id.deviceRemoved();
            case RDMA_CM_EVENT_ADDR_CHANGE -> cmServices.services.listening.mayHaveMoved();
            default -> Logs.LISTENER.debug("the {}: {}", this, event);
        }
    }

    private void onRequest(CmId request, byte[] privateData) {
        Admission.Request asked = requests.checked(request, privateData, localAddress());
        if (asked == null) {
            return;
        }
        if (asked.peer().hasFeature(ConnData.FEATURE_PROBE)) {
            refusals.refuse(request, Refusal.encode(Refusal.PROBED));
        } else if (isTurnOf(asked)) {
            answer(asked);
        }
    }

    /** Returns whether to answer the request now; otherwise it waits, or has been turned away. */
    private boolean isTurnOf(Admission.Request asked) {
        boolean held;
        synchronized (this) {
            if (closed || !isFull() && admission.mayOpen(asked)) {
                return true;
            }
            held = admission.hold(asked);
        }
        if (held) {
            watchTime();
        } else {
            refusals.refuseBusy(asked);
        }
        return false;
    }

    /** Returns the number of requests that wait for the application to accept or for other handshakes to end. */
    synchronized int held() {
        return admission.held();
    }

    /** Returns the number of handshakes under way. */
    synchronized int halfOpen() {
        return handshakes.size();
    }

    /**
     * Returns whether there are enough streams to accept. Called with this object's lock held. Handshakes under way do
     * not count: those left unfinished must not keep others out.
     */
    private boolean isFull() {
        return ready.size() >= backlog;
    }

    /** Answers a request. Called on the service thread, like everything that makes or ends handshakes. */
    private void answer(Admission.Request asked) {
        Handshake handshake;
        boolean begun;
        try {
            handshake = new Handshake(this, cmServices, config, limits, refusals, asked);
            begun = begun(handshake);
            watchTime();
        } catch (Error e) { // lack of memory: nothing refers to the request any more
            Freeing.destroy(asked.id());
            throw e;
        }
        if (begun) {
            handshake.begin();
        } else {
            refusals.refuse(asked.id(), Refusals.nothing());
        }
    }

    private synchronized boolean begun(Handshake handshake) {
        if (closed) {
            return false;
        }
        admission.opened(handshake.asked);
        try {
            handshakes.add(handshake);
        } catch (Error e) { // lack of memory
            handshakes.remove(handshake);
            admission.made(handshake.asked);
            admission.over(handshake.asked);
            throw e;
        }
        return true;
    }

    /** Makes sure that what takes too long is noticed. One timer serves all, and ends with the last of them. */
    private void watchTime() {
        if (!timing && isToWatch()) {
            service.scheduleAgain(check, limits.tickNanos());
            timing = true;
        }
    }

    private synchronized boolean isToWatch() {
        return admission.held() > 0 || !handshakes.isEmpty();
    }

    /** Called on the service thread, but not within a callback of the connection manager. */
    void checkTime() {
        try {
            cmServices.events.takeAll(); // a thread that is behind must not take its own delay for its clients' silence
            checkTimes();
        } finally { // without memory, too
            timing = false;
            watchTime();
        }
    }

    private void checkTimes() {
        if (closed) { // and there was no memory to end them then
            end();
            return;
        }
        List<Handshake> pending;
        boolean wanted;
        synchronized (this) {
            pending = List.copyOf(handshakes);
            wanted = !isFull() && admission.wantsPlace();
        }
        for (Admission.Request late = nextLate(); late != null; late = nextLate()) {
            refusals.refuseBusy(late);
        }
        pending.forEach(handshake -> handshake.checkTime(wanted ? limits.graceNanos() : limits.handshakeNanos()));
    }

    /** Takes one at a time, because nobody else knows of those that were taken. */
    private synchronized Admission.Request nextLate() {
        return closed ? null : admission.nextExpired(System.nanoTime());
    }

    @Override
    public synchronized RdmaStream poll() {
        if (!ready.isEmpty() && admission.held() > 0) {
            service.execute(answer); // first: without memory for that, nobody would own the stream
        }
        return ready.poll();
    }

    /**
     * Answers waiting requests, on the service thread. An answer that fails at once leads back here, and must not
     * answer the next request from within: there may be a thousand of them.
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

    @Override
    public void established(Handshake handshake, RdmaStream stream) {
        Runnable call;
        synchronized (this) {
            over(handshake);
            if (closed) {
                stream.abort();
                return;
            }
            call = ready.isEmpty() ? action : null;
            try {
                ready.add(stream);
            } catch (Error e) { // lack of memory: nobody would own the stream
                stream.abort();
                throw e;
            }
        }
        if (call != null) {
            call.run();
        }
        answerHeld();
    }

    @Override
    public void made(Handshake handshake) {
        synchronized (this) {
            admission.made(handshake.asked);
        }
        answerHeld();
    }

    @Override
    public void failed(Handshake handshake) {
        synchronized (this) {
            over(handshake);
        }
        answerHeld();
    }

    /** Called with this object's lock held. */
    private void over(Handshake handshake) {
        if (handshakes.remove(handshake)) {
            admission.over(handshake.asked);
        }
    }

    @Override
    public void close() {
        Runnable last;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            last = action;
            action = null;
        }
        cmServices.openIds.remove(this);
        // Closed at once, so that the port is free when this returns. Unanswered requests are refused, and streams that
        // were not taken are reset.
        id.close();
        try {
            service.execute(end);
        } catch (OutOfMemoryError e) {
            abortReady(); // and the next look at the time ends the rest, which only the service thread may do
        } finally {
            if (last != null) {
                last.run(); // tells a caller that waits for a connection that none will come
            }
        }
    }

    private synchronized void abortReady() {
        for (RdmaStream stream = ready.poll(); stream != null; stream = ready.poll()) {
            stream.abort();
        }
    }

    private void end() {
        abortReady();
        List<Handshake> pending;
        List<Admission.Request> held;
        synchronized (this) {
            pending = List.copyOf(handshakes);
            held = admission.takeHeld();
        }
        for (int i = 0; i < held.size(); i++) { // takes no memory: nobody else knows of them
            refusals.refuse(held.get(i).id(), Refusals.nothing());
        }
        pending.forEach(Handshake::giveUp);
    }
}
