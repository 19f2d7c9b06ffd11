/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.jrsocket.stream.RdmaListener;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.threads.ServiceLoop;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The RDMA listener of a socket that was opened before this host had RDMA, or while the policy was TCP. It tries to
 * listen every few seconds, which also keeps the {@link TransportHolder} looking for a device. Thread-safe.
 */
final class ExpectedListener implements RdmaListener {

    private static final Logger LOG = LoggerFactory.getLogger(ExpectedListener.class);

    private final TransportContext context;
    private final InetSocketAddress local;
    private final boolean shared;
    private final int backlog;
    private final StreamConfig config;
    private final ServiceLoop service;

    // Made now: without memory for them nobody would look any more, or hear of a connection.
    private final Runnable look = this::look;
    private final Runnable ready = this::ready;
    private volatile Runnable action; // null: none
    private RdmaListener listener; // guarded by this, as the next; null until it listens
    private ServiceLoop.Timer timer; // null if RDMA had ended by then
    private boolean closed; // or it has given up

    /**
     * Creates a listener and starts looking.
     *
     * @param shared whether other sockets may have the port too
     * @throws VerbsUnavailableException if it cannot look, because no thread is to be had, for example
     */
    ExpectedListener(
            TransportContext context, InetSocketAddress local, boolean shared, int backlog, StreamConfig config)
            throws VerbsUnavailableException {
        this.context = context;
        this.local = local;
        this.shared = shared;
        this.backlog = backlog;
        this.config = config;
        this.service = context.rdma().service();
        context.atEnd(ready); // who waits has to look for TCP connections itself then
        lookLater();
    }

    private void lookLater() {
        if (isClosed() || context.rdma().isOver()) {
            return;
        }
        ServiceLoop.Timer next = service.scheduleAgain(look, HeldVerbs.LOOK_NANOS);
        synchronized (this) {
            timer = next;
        }
        if (isClosed()) { // in the meantime
            next.cancel();
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    private void look() {
        RdmaListener found = null;
        try {
            found = listen();
        } finally {
            if (found == null) {
                lookLater();
            } else {
                take(found);
            }
        }
    }

    /** Returns null if it cannot listen yet. */
    private RdmaListener listen() {
        if (context.policy(Rules.Action.BIND, local) == Policy.TCP) {
            return null; // nothing of RDMA is opened
        }
        try {
            try {
                return context.rdma().listen(local, backlog, config, context.access(local));
            } catch (IOException e) {
                if (TcpReason.ofListening(e) != TcpReason.IN_USE) {
                    throw e;
                }
                if (!PortPatience.isWorthwhile(local, e)) {
                    LOG.info("listening on {} over TCP alone: somebody else has the port over RDMA", local);
                    giveUp();
                    return null;
                }
                Patience patience = new PortPatience(context, local, shared);
                return context.rdma().listenWhenFree(local, backlog, config, context.access(local), patience);
            }
        } catch (IOException e) {
            LOG.trace("cannot listen on {} over RDMA yet", local, e);
            return null;
        }
    }

    private synchronized void giveUp() {
        closed = true;
    }

    private void take(RdmaListener found) {
        synchronized (this) {
            if (!closed) {
                listener = found;
            }
        }
        if (current() == found) {
            found.onReady(ready);
            LOG.info("listening on {} over RDMA, too, from now on or as soon as nobody else has the port", local);
        } else {
            found.close();
        }
    }

    private void ready() {
        Runnable present = action;
        if (present != null) {
            present.run();
        }
    }

    private synchronized RdmaListener current() {
        return listener;
    }

    @Override
    public InetSocketAddress localAddress() {
        return local;
    }

    @Override
    public RdmaStream poll() {
        RdmaListener present = current();
        return present == null ? null : present.poll();
    }

    @Override
    public void onReady(Runnable newAction) {
        action = newAction;
        RdmaListener present = current();
        if (present != null && newAction != null) {
            present.onReady(ready); // which runs it now, if streams are waiting
        }
    }

    @Override
    public void close() {
        context.notAtEnd(ready);
        RdmaListener present;
        synchronized (this) {
            closed = true;
            present = listener;
            if (timer != null) {
                timer.cancel();
            }
        }
        if (present != null) {
            present.close();
        }
    }
}
