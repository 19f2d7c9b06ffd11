/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jrsocket.verbs.Device;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The devices that connections or listeners were made on. This class reads their asynchronous events, and ends
 * everything on a device that is removed from the host, or reports a fatal error: the kernel and libibverbs report both
 * in the same way. A device that comes back counts as another one.
 */
final class OpenDevices {

    private static final Logger LOG = LoggerFactory.getLogger(OpenDevices.class);

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
                takeEvent(device, Device.eventType(event), Device.eventPort(event));
            }
        } catch (IOException e) {
            LOG.warn("the events of RDMA device {} cannot be read any more", device.name(), e);
            unwatch(device);
        }
    }

    private void takeEvent(Device device, int type, int port) {
        switch (type) {
            case Device.EVENT_PORT_ERR -> LOG.warn("port {} of RDMA device {} is down", port, device.name());
            case Device.EVENT_PORT_ACTIVE -> LOG.warn("port {} of RDMA device {} is up", port, device.name());
            default -> LOG.debug("RDMA device {}: asynchronous event {}, port {}", device.name(), type, port);
        }
        if (type == Device.EVENT_PORT_ERR || type == Device.EVENT_PORT_ACTIVE || type == Device.EVENT_GID_CHANGE) {
            listening.mayHaveMoved();
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

    /** Returns the number of devices that are watched. */
    int count() {
        return watches.size();
    }

    /** Stops reading events. */
    void end() {
        watches.keySet().forEach(this::unwatch);
    }
}
