/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.jrsocket.endpoint.Freeing;
import org.jrsocket.endpoint.OpenDevices;
import org.jrsocket.threads.ServiceThread;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.CmId;

/** Passes each of the connection manager's events to the {@link CmHandler} of its id, on the service thread. */
final class CmEvents {

    /**
     * The pause after an event that could not be read: a channel that is broken for good must not keep the service
     * thread from its other work.
     */
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /** More events than this at once are not answers to this host's few requests, but requests of other hosts. */
    private static final int MOST = 4096;

    private final Cm cm;
    private final CmChannel channel;
    private final ServiceThread service;
    private final OpenDevices devices;
    private final ServiceThread.SteadyWatch watch;
    private final Runnable arm = this::arm; // made now, as it is needed where memory is lacking
    private volatile boolean over; // no id is left, except those of streams
    private boolean destroyed; // guarded by this

    /** Creates the dispatcher, which takes no events before {@link #start}. */
    CmEvents(Cm cm, CmChannel channel, ServiceThread service, OpenDevices devices) throws IOException {
        this.cm = cm;
        this.channel = channel;
        this.service = service;
        this.devices = devices;
        this.watch = service.watchSteadily(channel.getFd(), this::onEvent);
    }

    void start() throws IOException {
        watch.arm();
    }

    void end() {
        watch.cancel();
    }

    /**
     * Destroys the channel, now or when the last stream is gone.
     *
     * @param unused whether nothing else uses it any more; otherwise it stays
     * @param left counts the streams, once those that go meanwhile notice
     */
    void over(boolean unused, IntSupplier left) {
        over = unused;
        forgotten(left.getAsInt());
    }

    /** Called on any thread when a stream is gone, with the number of those that are left. */
    void forgotten(int left) {
        if (over && left == 0) {
            destroyChannel();
        }
    }

    private synchronized void destroyChannel() {
        if (!destroyed) {
            try {
                cm.destroyEventChannel(channel);
                destroyed = true;
            } catch (IOException e) {
                Logs.TRANSPORT.warn("closing the CM event channel failed", e);
            }
        }
    }

    /**
     * Takes one event. If there are more, it is called again; the kernel is never asked for an event that is not there.
     */
    private void onEvent() {
        boolean done = false;
        try {
            takeOne();
            done = true;
        } catch (IOException e) {
            Logs.TRANSPORT.error("an event of the RDMA connection manager could not be read", e);
        } finally { // also after an error that the service thread logs, such as lack of memory
            if (!done) {
                pause();
            }
        }
    }

    private boolean takeOne() throws IOException {
        CmEvent event = cm.getCmEvent(channel, 0);
        if (event != null) {
            dispatch(event);
        }
        return event != null;
    }

    /** Handles what has arrived. Must not be called within a callback of the connection manager. */
    void takeAll() {
        try {
            int left = MOST;
            while (left > 0 && takeOne()) {
                left--;
            }
        } catch (IOException e) {
            Logs.TRANSPORT.debug(
                    "an event of the RDMA connection manager could not be read; it will be tried again", e);
        } catch (OutOfMemoryError e) { // the caller goes on without what is left
            pause(); // which takes it later: what was read but not handled does not make the descriptor readable
        }
    }

    private void pause() {
        service.scheduleAgain(arm, RETRY_NANOS);
        try {
            watch.pause();
        } catch (IOException e) {
            Logs.TRANSPORT.debug("cannot pause the RDMA connection manager's event channel", e);
        }
    }

    private void arm() {
        try {
            watch.arm();
        } catch (IOException e) {
            Logs.TRANSPORT.error(
                    "cannot watch the RDMA connection manager's event channel; no more RDMA connections can be made",
                    e);
        }
        boolean done = false;
        try {
            takeAll(); // events that lack of memory kept from being handled do not make the descriptor readable
            done = true;
        } finally {
            if (!done) {
                pause();
            }
        }
    }

    private void dispatch(CmEvent event) {
        try {
            if (event.type() == EventType.RDMA_CM_EVENT_DEVICE_REMOVAL
                    && event.id() != null
                    && event.id().getVerbs() != null) {
                devices.removed(event.id().getVerbs());
            }
        } finally { // even if the logger throws
            handOver(event);
        }
    }

    private void handOver(CmEvent event) {
        CmId owner = event.listenId() != null ? event.listenId() : event.id();
        Object handler = owner == null ? null : owner.attachment();
        try {
            if (handler instanceof CmHandler h) {
                h.onCmEvent(event);
            } else if (event.listenId() != null) {
                event.id().destroyId(); // its listener was closed in the meantime
            }
            // trouble with one connection, lack of memory included, must not end the handling of all others
        } catch (Throwable t) {
            if (event.type() == EventType.RDMA_CM_EVENT_CONNECT_REQUEST
                    && event.id().attachment() == null) {
                Freeing.destroy(event.id()); // which refuses it; if a handler has already freed it, this is harmless
            }
            Logs.TRANSPORT.error("handling {} failed", event, t);
        }
    }
}
