/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import com.ibm.disni.verbs.RdmaCm;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.CmId;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.WireException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The passive side: every request is checked, answered and established by events, many at a time, so that a client that never completes the
 * handshake delays nobody. While the backlog is full, requests wait unanswered, as SYNs do; the client's CM asks again.
 */
final class CmListener implements RdmaListener, CmHandler {

    private static final Logger LOG = LoggerFactory.getLogger(CmListener.class);

    /** A client that was answered has this long to say that it is ready. */
    private static final long HANDSHAKE_NANOS = TimeUnit.SECONDS.toNanos(10);
    /** Requests kept unanswered while the backlog is full; more are refused. */
    static final int MAX_HELD = 1024;
    private static final byte[] NOTHING = new byte[0];

    private record Request(CmId id, ConnData peer) {
    }

    private final RdmaTransport transport;
    private final StreamConfig config;
    private final int backlog;
    private final CmId id;
    private InetSocketAddress address;

    // Guarded by this.
    private final Queue<RdmaStream> ready = new ArrayDeque<>();
    private final Queue<Request> held = new ArrayDeque<>();
    private final Set<Handshake> handshakes = new HashSet<>();
    private Runnable action;
    private boolean closed;

    private CmListener(RdmaTransport transport, int backlog, StreamConfig config) throws IOException {
        this.transport = transport;
        this.backlog = Math.max(1, backlog);
        this.config = config;
        this.id = transport.cm().createId(transport.channel(), RdmaCm.RDMA_PS_TCP);
    }

    static CmListener open(RdmaTransport transport, InetSocketAddress local, int backlog, StreamConfig config) throws IOException {
        CmListener listening = new CmListener(transport, backlog, config);
        CmId id = listening.id;
        try {
            Cm cm = transport.cm();
            id.attach(listening);
            cm.setOption(id, Cm.OPTION_REUSEADDR, 1); // the kernel keeps an rsocket's port busy a while after its last connection
            if (local.getAddress() instanceof Inet6Address) {
                cm.setOption(id, Cm.OPTION_AFONLY, 0);
            }
            cm.bindAddr(id, local);
            listening.address = (InetSocketAddress) id.getSource();
            cm.listen(id, listening.backlog);
        } catch (IOException | RuntimeException e) {
            id.destroyId();
            throw e;
        }
        return listening;
    }

    @Override
    public InetSocketAddress localAddress() {
        return address;
    }

    @Override
    public void onCmEvent(CmEvent event) {
        switch (event.type()) {
            case RDMA_CM_EVENT_CONNECT_REQUEST -> onRequest(event.id(), event.privateData());
            case RDMA_CM_EVENT_DEVICE_REMOVAL -> LOG.warn("a device of the RDMA listener on {} was removed", address);
            default -> LOG.debug("listener on {}: {}", address, event);
        }
    }

    private void onRequest(CmId request, byte[] privateData) {
        ConnData peer;
        try {
            peer = ConnData.parse(privateData);
        } catch (WireException e) {
            LOG.warn("RDMA connection request to {} refused: {}", address, e.getMessage());
            refuse(request);
            return;
        }
        synchronized (this) {
            if (!closed && isFull()) {
                if (held.size() < MAX_HELD) {
                    held.add(new Request(request, peer));
                } else {
                    LOG.debug("RDMA connection request to {} refused: {} are waiting to be accepted already", address, backlog + MAX_HELD);
                    refuse(request);
                }
                return;
            }
        }
        answer(request, peer);
    }

    /** Requests that wait until somebody accepts. */
    synchronized int held() {
        return held.size();
    }

    /** With this object's lock. */
    private boolean isFull() {
        return ready.size() + handshakes.size() >= backlog;
    }

    /** On the service thread, like everything that makes or ends handshakes. */
    private void answer(CmId request, ConnData peer) {
        Handshake handshake = new Handshake(request, peer);
        synchronized (this) {
            if (closed) {
                refuse(request);
                return;
            }
            handshakes.add(handshake);
        }
        handshake.answer();
    }

    private void refuse(CmId request) {
        transport.reap(() -> {
            try {
                transport.cm().reject(request, NOTHING);
            } catch (IOException e) {
                LOG.debug("rejecting a request to {} failed", address, e);
            }
            destroy(request);
        });
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
        if (stream != null && !held.isEmpty()) {
            transport.service().execute(this::answerHeld);
        }
        return stream;
    }

    private void answerHeld() {
        for (;;) {
            Request request;
            synchronized (this) {
                if (closed || held.isEmpty() || isFull()) {
                    return;
                }
                request = held.poll();
            }
            answer(request.id, request.peer);
        }
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

    private void established(Handshake handshake, RdmaStream stream) {
        Runnable call;
        synchronized (this) {
            handshakes.remove(handshake);
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
    }

    private void failed(Handshake handshake) {
        synchronized (this) {
            handshakes.remove(handshake);
        }
        answerHeld();
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            action = null;
        }
        // At once, so that the port is free when this returns. Requests not answered are refused, streams not taken are reset.
        destroy(id);
        transport.service().execute(() -> {
            synchronized (this) {
                ready.forEach(RdmaStream::abort);
                ready.clear();
                held.forEach(request -> refuse(request.id));
                held.clear();
                Set.copyOf(handshakes).forEach(Handshake::giveUp);
                handshakes.clear();
            }
        });
    }

    /** One request that was answered, until its RTU comes. Service thread only. */
    private final class Handshake implements CmHandler {
        private final CmId request;
        private final ConnData peer;
        private ConnectionHandles endpoint;
        private boolean over;

        Handshake(CmId request, ConnData peer) {
            this.request = request;
            this.peer = peer;
        }

        void answer() {
            try {
                request.attach(this);
                endpoint = new ConnectionHandles(transport.cm(), transport.bundles(), request, config);
                ConnData mine = endpoint.connData();
                if (peer.hasExtension()) {
                    mine = mine.withFeatures(ConnData.FEATURE_RESET);
                }
                transport.cm().accept(request, RdmaTransport.param(mine, false));
                transport.service().schedule(this::giveUp, HANDSHAKE_NANOS);
            } catch (IOException | RuntimeException | OutOfMemoryError e) {
                if (endpoint != null && e instanceof ErrnoException v && v.errno() == Errno.EINVAL) {
                    LOG.debug("a client of {} gave up before it was answered: {}", address, e.toString());
                } else {
                    LOG.warn("RDMA connection request to {} refused: {}", address, e.toString());
                }
                over = true;
                if (endpoint == null) {
                    failed(this); // the endpoint's constructor has destroyed the id, and the client will know soon enough
                } else {
                    end();
                }
            }
        }

        @Override
        public void onCmEvent(CmEvent event) {
            if (over) {
                return;
            }
            switch (event.type()) {
                case RDMA_CM_EVENT_ESTABLISHED -> {
                    over = true;
                    try {
                        CmListener.this.established(this, transport.established(endpoint, peer));
                    } catch (IOException | RuntimeException | OutOfMemoryError e) {
                        LOG.debug("a connection to {} was lost before it was established", address, e);
                        end();
                    }
                }
                case RDMA_CM_EVENT_CONNECT_ERROR, RDMA_CM_EVENT_UNREACHABLE, RDMA_CM_EVENT_REJECTED, RDMA_CM_EVENT_DISCONNECTED,
                        RDMA_CM_EVENT_DEVICE_REMOVAL -> {
                    LOG.debug("a connection to {} did not come about: {}", address, event);
                    giveUp();
                }
                default -> {
                    // nothing to a handshake
                }
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
            failed(this);
        }
    }
}
