/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.Qp;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The devices that connections or listeners were made on. This class reads their asynchronous events, and ends
 * everything on a device that is removed from the host, or reports a fatal error: the kernel and libibverbs report both
 * in the same way. A device that comes back counts as another one.
 */
final class OpenDevices {

    private static final Logger LOG = LoggerFactory.getLogger(OpenDevices.class);

    /** The time in which a queue pair that has failed completes what was posted. */
    private static final long FLUSH_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final String DEAD_QUEUE = "a completion queue of this host's device has failed";

    private final RdmaTransport transport;
    private final Map<Device, ServiceThread.SteadyWatch> watches = new ConcurrentHashMap<>();
    private final ListeningAddresses listening;

    OpenDevices(RdmaTransport transport) {
        this.transport = transport;
        this.listening = new ListeningAddresses(transport);
    }

    ListeningAddresses listening() {
        return listening;
    }

    /** Takes note of a device that something will be made on. May be called from any thread. */
    void opened(Device device) {
        if (!watches.containsKey(device) && !device.isLost()) {
            // Only the service thread adds and removes entries.
            transport.service().execute(() -> watch(device));
        }
    }

    private void watch(Device device) {
        if (watches.containsKey(device) || device.isLost()) {
            return;
        }
        try {
            ServiceThread.SteadyWatch watch =
                    transport.serviceThread().watchSteadily(device.asyncFd(), () -> takeEvents(device));
            watches.put(device, watch);
            watch.arm();
        } catch (IOException e) { // no descriptor left, for example: the next connection tries again
            LOG.debug("cannot watch the events of RDMA device {}", device.name(), e);
        }
    }

    private void takeEvents(Device device) {
        try {
            for (int event = device.takeAsyncEvent(); event >= 0; event = device.takeAsyncEvent()) {
                if (Device.eventType(event) == Device.EVENT_DEVICE_FATAL) {
                    removed(device);
                    return;
                }
                takeEvent(device, event);
            }
        } catch (IOException e) {
            LOG.warn("the events of RDMA device {} cannot be read any more", device.name(), e);
            unwatch(device);
        }
    }

    private void takeEvent(Device device, int event) {
        int type = Device.eventType(event);
        int port = Device.eventPort(event);
        switch (type) {
            case Device.EVENT_CQ_ERR, Device.EVENT_QP_FATAL, Device.EVENT_QP_REQ_ERR, Device.EVENT_QP_ACCESS_ERR ->
                queueFailed(device, event);
            case Device.EVENT_PORT_ERR -> LOG.warn("port {} of RDMA device {} is down", port, device.name());
            case Device.EVENT_PORT_ACTIVE -> LOG.warn("port {} of RDMA device {} is up", port, device.name());
            default -> LOG.debug("RDMA device {}: asynchronous event {}, port {}", device.name(), type, port);
        }
        if (type == Device.EVENT_PORT_ERR || type == Device.EVENT_PORT_ACTIVE || type == Device.EVENT_GID_CHANGE) {
            listening.mayHaveMoved();
        }
    }

    /**
     * Ends the stream whose queue has failed. A completion queue reports nothing any more. A queue pair mostly fails
     * what was posted, which says more, but need not. Without a stream, nothing is made of the queue any more.
     */
    private void queueFailed(Device device, int event) {
        int type = Device.eventType(event);
        if (type == Device.EVENT_CQ_ERR) { // a peer can cause the others, as often as it likes
            transport.bundles().queueFailed(device, event);
        }
        for (RdmaStream stream : transport.streams()) {
            Endpoint endpoint = stream.core().endpoint;
            Qp qp = endpoint.qp;
            if (endpoint.device != device) {
                continue;
            }
            if (endpoint.recvCq.isSubjectOf(event) || endpoint.sendCq.isSubjectOf(event)) {
                queueFailed(stream, DEAD_QUEUE);
                LOG.warn("a completion queue of RDMA device {} has failed; {} is reset", device.name(), stream);
            } else if (qp != null && qp.isSubjectOf(event)) {
                LOG.debug("the queue pair of {} has failed: asynchronous event {}", stream, type);
                String why = "this host's device has failed the queue pair (asynchronous event " + type + ")";
                transport.service().schedule(() -> queueFailed(stream, why), FLUSH_NANOS);
            }
        }
    }

    private static void queueFailed(RdmaStream stream, String why) {
        try {
            stream.core().effects().queueFailed(why);
        } catch (RuntimeException | Error e) {
            LOG.error("cannot end {}, one of whose queues has failed", stream, e);
        }
    }

    private void unwatch(Device device) {
        ServiceThread.SteadyWatch watch = watches.remove(device);
        if (watch != null) {
            watch.cancel();
        }
    }

    /** Ends and frees everything on a lost device. Called on the service thread; repeated calls have no effect. */
    void removed(Device device) {
        if (device.isLost()) { // already handled: the event comes for each of its connections
            return;
        }
        try {
            LOG.warn("RDMA device {} was removed or has failed; connections on it are lost", device.name());
        } finally { // even if the logger throws
            lose(device);
        }
    }

    private void lose(Device device) {
        unwatch(device); // before its descriptor number may be reused
        device.lose();
        transport.inlineLimits().deviceRemoved(device);
        transport.bundles().deviceRemoved(device);
        for (RdmaStream stream : transport.streams()) {
            if (stream.core().endpoint.device == device) {
                end(stream);
            }
        }
    }

    /** Ends one stream. There is no second attempt, so trouble with one stream must not affect the others. */
    private static void end(RdmaStream stream) {
        try {
            stream.deviceRemoved();
        } catch (RuntimeException | Error e) {
            LOG.error("cannot end {}, whose device was removed or has failed", stream, e);
        }
    }

    /** Throws an exception if no stream can be made, because the device or the completion queues have failed. */
    void ensureWorking(Endpoint endpoint) throws IOException {
        if (endpoint.recvCq.hasFailed()) {
            throw new IOException("a completion queue of " + endpoint.device.name() + " has failed");
        }
        if (endpoint.device.isLost()) {
            throw new IOException(endpoint.device.name() + " was removed or has failed");
        }
    }

    /**
     * Ends a stream whose device or completion queue failed while it was made: the service thread may have looked for
     * the streams that this concerned before this one was there. Called when it is, on any thread.
     */
    void added(RdmaStream stream) {
        Endpoint endpoint = stream.core().endpoint;
        if (endpoint.device.isLost()) {
            transport.service().execute(() -> end(stream));
        } else if (endpoint.recvCq.hasFailed()) {
            transport.service().execute(() -> queueFailed(stream, DEAD_QUEUE));
        }
    }

    /** Returns the number of devices that are watched. */
    int count() {
        return watches.size();
    }

    /** Stops reading events. */
    void end() {
        watches.keySet().forEach(this::unwatch);
    }
}
