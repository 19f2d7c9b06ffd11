/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.CmId;
import org.jrsocket.wire.ConnData;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A request that was answered, until its RTU comes. Used on the service thread only. */
final class Handshake implements CmHandler {

    private static final Logger LOG = LoggerFactory.getLogger(Handshake.class);

    final Admission.Request asked;
    private final CmListener listening;
    private final RdmaTransport transport;
    private final CmId request;
    private final ConnData peer;
    private Endpoint endpoint;
    private long answered;
    private boolean confirmed;
    private boolean over;

    Handshake(CmListener listening, RdmaTransport transport, Admission.Request asked) {
        this.listening = listening;
        this.transport = transport;
        this.asked = asked;
        this.request = asked.id();
        this.peer = asked.peer();
    }

    void answer() {
        Refusals refusals = listening.refusals();
        String device = request.getVerbs().name();
        try {
            request.attach(this);
            endpoint = new Endpoint(transport, request, listening.config());
            refusals.made(device);
            ConnData mine = endpoint.connData();
            if (peer.hasExtension()) {
                mine = mine.withFeatures(Endpoint.FEATURES);
            }
            PathTimers.setAckTimeout(transport.cm(), request, listening.config());
            transport.cm().accept(request, HandshakeParameters.ofAnswer(mine));
            answered = System.nanoTime();
        } catch (IOException | RuntimeException | Error e) {
            over = true;
            boolean refused = false;
            try {
                if (endpoint == null) {
                    refusals.refuse(request, refusals.unmade(peer, device, e));
                    refused = true;
                }
                tell(device, e);
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
    }

    /** Tells the log. */
    private void tell(String device, Throwable failure) {
        Refusals refusals = listening.refusals();
        if (endpoint != null && failure instanceof ErrnoException v && v.errno() == Errno.EINVAL) {
            LOG.debug("a client of the {} gave up before it was answered: {}", listening, failure.toString());
        } else {
            refusals.report(device, failure);
        }
    }

    @Override
    public void onCmEvent(CmEvent event) {
        if (over) {
            return;
        }
        switch (event.type()) {
            case RDMA_CM_EVENT_ESTABLISHED -> {
                RdmaStream stream = established();
                if (stream != null) {
                    listening.established(this, stream);
                    RdmaTransport.log(stream);
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
            return transport.established(endpoint, peer);
        } catch (IOException | RuntimeException | Error e) {
            end();
            LOG.debug("a connection to the {} was lost before it was established", listening, e);
            return null;
        }
    }

    /** Handles the end of a client whose RTU was lost: what it sent still belongs to the application. */
    private void onEnd(CmEvent event) {
        RdmaStream stream = established();
        if (stream == null) {
            return;
        }
        boolean given = false;
        try {
            stream.onCmEvent(event);
            if (stream.core().hasInput()) {
                given = true;
                listening.established(this, stream);
                RdmaTransport.log(stream);
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
        if (over) {
            return;
        }
        long now = System.nanoTime();
        long waited = now - answered;
        boolean late = waited >= nanos; // which is the client's own fault only if it has not written either
        if (!confirmed && (late || waited >= listening.tick()) && endpoint.peerHasWritten()) {
            // its RTU was lost; the CM repeats the answer, which calls for another RTU, only after four seconds
            confirmed = true;
            answered = now;
            try {
                transport.cm().confirm(request);
            } catch (IOException e) {
                LOG.debug("confirming a connection to the {} failed", listening, e);
            }
        } else if (late) {
            giveUp();
            LOG.debug("a client of the {} at {} did not complete its handshake", listening, asked.source());
        }
    }

    void giveUp() {
        if (!over) {
            over = true;
            end();
        }
    }

    private void end() {
        transport.reap(endpoint::free);
        listening.failed(this);
    }
}
