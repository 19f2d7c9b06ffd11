/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jrsocket.threads.ServiceThread;
import org.jrsocket.verbs.Device;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The devices that connections or listeners were made on. This class reads their asynchronous events, and tells those
 * who use a device that it is lost: removed from the host, or in a fatal error, which the kernel and libibverbs report
 * in the same way. A device that comes back counts as another one.
 */
public final class OpenDevices {

    /** Those who use devices. Told on the service thread. */
    public interface Users {

        /** A device is lost, with everything on it. */
        void lost(Device device);

        /** The asynchronous event says that a queue of the device has failed. */
        void queueFailed(Device device, int event);
    }

    private static final Logger LOG = LoggerFactory.getLogger(OpenDevices.class);

    private final ServiceThread service;
    private final BundlePool bundles;
    private final InlineLimits inlineLimits;
    private final Runnable portsChanged;
    private final Users users;
    private final Map<Device, ServiceThread.SteadyWatch> watches = new ConcurrentHashMap<>();

    /** @param portsChanged runs when addresses may have come or gone; it must not wait */
    public OpenDevices(
            ServiceThread service, BundlePool bundles, InlineLimits inlineLimits, Runnable portsChanged, Users users) {
        this.service = service;
        this.bundles = bundles;
        this.inlineLimits = inlineLimits;
        this.portsChanged = portsChanged;
        this.users = users;
    }

    /** Takes note of a device that something will be made on. May be called from any thread. */
    public void opened(Device device) {
        if (!watches.containsKey(device) && !device.isLost()) {
            // Only the service thread adds and removes entries.
            service.execute(() -> watch(device));
        }
    }

    private void watch(Device device) {
        if (watches.containsKey(device) || device.isLost()) {
            return;
        }
        try {
            ServiceThread.SteadyWatch watch = service.watchSteadily(device.asyncFd(), () -> takeEvents(device));
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
            portsChanged.run();
        }
    }

    private void queueFailed(Device device, int event) {
        if (Device.eventType(event) == Device.EVENT_CQ_ERR) { // a peer can cause the others, as often as it likes
            bundles.queueFailed(device, event);
        }
        users.queueFailed(device, event);
    }

    private void unwatch(Device device) {
        ServiceThread.SteadyWatch watch = watches.remove(device);
        if (watch != null) {
            watch.cancel();
        }
    }

    /** Has everything on a lost device end. Called on the service thread; repeated calls have no effect. */
    public void removed(Device device) {
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
        inlineLimits.deviceRemoved(device);
        bundles.deviceRemoved(device);
        users.lost(device);
    }

    /** Returns the number of devices that are watched. */
    public int count() {
        return watches.size();
    }

    /** Stops reading events. */
    public void end() {
        watches.keySet().forEach(this::unwatch);
    }
}
