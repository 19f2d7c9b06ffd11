/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jrsocket.endpoint.Endpoint;
import org.jrsocket.endpoint.Freeing;
import org.jrsocket.endpoint.PathTimers;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.CmId;
import org.jrsocket.wire.ConnData;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A request that is being answered, until its RTU comes. Making the endpoint and accepting take the device's time, so a
 * maker does both; until it has, nothing else touches the id or the endpoint. All other methods are called on the
 * service thread.
 */
final class Handshake implements CmHandler {

    private static final Logger LOG = LoggerFactory.getLogger(Handshake.class);

    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    /** Every request may wait this long for its device: a busy host is not a device that hangs. */
    static final long LEAST_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The listener that was asked; its {@code toString} describes it in logs. */
    interface Listener {

        /** Called when the device has done its part, or has failed to. */
        void made(Handshake handshake);

        /** Called when the handshake is over; takes over the stream that it has made. */
        void established(Handshake handshake, RdmaStream stream);

        /** Called when the handshake is over, and has made no stream. */
        void failed(Handshake handshake);
    }

    final Admission.Request asked;
    private final Listener listening;
    private final CmServices cmServices;
    private final Services services;
    private final StreamConfig config;
    private final Admission.Limits limits;
    private final Refusals refusals;
    private final CmId request;
    private final ConnData peer;
    private final Runnable handOver = this::made;
    private final AtomicBoolean handedOver = new AtomicBoolean();

    // Written by the maker, before the service thread runs what it hands over.
    private Endpoint endpoint;
    private long answered;
    private Throwable failure;
    private byte[] refusal = Refusals.nothing();

    private final List<CmEvent> early = new ArrayList<>(4); // of a client that is faster than the maker
    private volatile boolean unwanted; // read by the maker
    private boolean making = true;
    private boolean confirmed;
    private boolean over;

    Handshake(
            Listener listening,
            CmServices cmServices,
            StreamConfig config,
            Admission.Limits limits,
            Refusals refusals,
            Admission.Request asked) {
        this.listening = listening;
        this.cmServices = cmServices;
        this.services = cmServices.services;
        this.config = config;
        this.limits = limits;
        this.refusals = refusals;
        this.asked = asked;
        this.request = asked.id();
        this.peer = asked.peer();
    }

    /** Has the request answered. */
    void begin() {
        try {
            request.attach(this);
            if (!services.makers.execute(asked.device(), this::make)) {
                unwanted = true;
                made();
            }
        } catch (RuntimeException | Error e) { // no memory, or no thread
            failure = e;
            made();
        }
    }

    /** Runs on a maker. */
    private void make() {
        try {
            answer();
        } catch (IOException | RuntimeException | Error e) {
            failure = e;
        }
        while (!isPassedOn()) { // nobody else knows what was made
            LockSupport.parkNanos(RETRY_NANOS);
        }
        if (services.service.hasEnded()) { // so the listener is closed
            unwanted = true;
            made();
        }
    }

    private void answer() throws IOException {
        if (unwanted) { // it waited for a maker, and the listener was closed
            return;
        }
        long waited = System.nanoTime() - asked.since();
        if (waited > Math.max(LEAST_NANOS, limits.deviceNanos())) { // most clients have given up by now
            refusal = Refusals.busy(peer);
            return;
        }
        endpoint = new Endpoint(services.endpoints, request, config.endpointSizes());
        ConnData mine = endpoint.connData();
        if (peer.hasExtension()) {
            mine = mine.withFeatures(Endpoint.FEATURES);
        }
        PathTimers.setAckTimeout(services.cm, request, config.ackTimeoutNanos());
        if (!unwanted) {
            services.cm.accept(request, HandshakeParameters.ofAnswer(mine));
            answered = System.nanoTime();
        }
    }

    private boolean isPassedOn() {
        try {
            services.service.execute(handOver);
            return true;
        } catch (OutOfMemoryError e) {
            return false;
        }
    }

    /** Goes on with what the maker has made. */
    private void made() {
        if (handedOver.getAndSet(true)) {
            return;
        }
        making = false;
        try {
            listening.made(this);
        } finally {
            if (failure != null) {
                fail();
            } else if (endpoint == null) {
                over = true;
                refusals.refuse(request, refusal);
                listening.failed(this);
            } else if (unwanted) {
                giveUp();
            } else {
                refusals.made(asked.device().name());
                early.forEach(this::replay);
            }
        }
    }

    /** Passes on an event that came early. One before it may have made a stream, which then has the id. */
    private void replay(CmEvent event) {
        try {
            ((CmHandler) request.attachment()).onCmEvent(event);
        } catch (RuntimeException | Error e) { // must not hide the next one
            LOG.error("handling {} failed", event, e);
        }
    }

    private void fail() {
        over = true;
        String device = asked.device().name();
        boolean refused = false;
        try {
            if (endpoint == null) {
                refusals.refuse(request, refusals.unmade(peer, device, failure));
                refused = true;
                refusals.report(device, failure);
            } else {
                refusals.reportUnaccepted(device, failure);
            }
        } finally { // also where that fails, for lack of memory for example
            if (endpoint != null) {
                end();
            } else {
                if (!refused) {
                    Freeing.destroy(request); // which refuses it
                }
                listening.failed(this);
            }
        }
    }

    @Override
    public void onCmEvent(CmEvent event) {
        if (making) {
            early.add(event);
            return;
        }
        if (over) {
            return;
        }
        switch (event.type()) {
            case RDMA_CM_EVENT_ESTABLISHED -> {
                RdmaStream stream = established();
                if (stream != null) {
                    give(stream);
                }
            }
            case RDMA_CM_EVENT_DISCONNECTED -> onEnd(event);
            case RDMA_CM_EVENT_CONNECT_ERROR,
                    RDMA_CM_EVENT_UNREACHABLE,
                    RDMA_CM_EVENT_REJECTED,
                    RDMA_CM_EVENT_DEVICE_REMOVAL -> {
                giveUp();
                LOG.debug("a connection to the {} was not established: {}", listening, event);
            }
            default -> {
                // means nothing to a handshake
            }
        }
    }

    /** Returns the stream, or null if it could not be made; then everything is freed. */
    private RdmaStream established() {
        over = true;
        try {
            return cmServices.established(endpoint, config, peer);
        } catch (IOException | RuntimeException | Error e) {
            end();
            LOG.debug("a connection to the {} was lost before it was established", listening, e);
            return null;
        }
    }

    /** Gives the stream to the listener. It is logged only then, and without locks: a logger may wait for its owner. */
    private void give(RdmaStream stream) {
        listening.established(this, stream);
        Logs.TRANSPORT.debug("connected {}", stream);
    }

    /** Handles the end of a client whose RTU was lost: what it sent still belongs to the application. */
    private void onEnd(CmEvent event) {
        RdmaStream stream = established();
        if (stream == null) {
            return;
        }
        boolean given = false;
        try {
            stream.core().onCmEvent(event);
            if (stream.core().hasInput()) {
                given = true;
                give(stream);
            }
        } finally {
            if (!given) {
                try {
                    stream.abort();
                } finally {
                    listening.failed(this);
                }
            }
        }
        if (!given) {
            LOG.debug("a connection to the {} was not established: {}", listening, event);
        }
    }

    /** Deals with a client that has not yet said that it is ready, and has {@code nanos} to do so. */
    void checkTime(long nanos) {
        if (making || over) {
            return;
        }
        long now = System.nanoTime();
        long waited = now - answered;
        boolean late = waited >= nanos; // which is the client's own fault only if it has not written either
        if (!confirmed && (late || waited >= limits.tickNanos()) && endpoint.peerHasWritten()) {
            // its RTU was lost; the CM repeats the answer, which calls for another RTU, only after four seconds
            confirmed = true;
            answered = now;
            try {
                services.cm.confirm(request);
            } catch (IOException e) {
                LOG.debug("confirming a connection to the {} failed", listening, e);
            }
        } else if (late) {
            giveUp();
            LOG.debug("a client of the {} at {} did not complete its handshake", listening, asked.source());
        }
    }

    void giveUp() {
        if (making) {
            unwanted = true;
        } else if (!over) {
            over = true;
            end();
        }
    }

    private void end() {
        try {
            services.reapers.reap(endpoint.device(), endpoint::free);
        } catch (OutOfMemoryError e) { // then here: nothing else refers to it any more
            endpoint.free();
        } finally {
            listening.failed(this);
        }
    }
}
