/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.concurrent.TimeUnit;
import org.jrsocket.endpoint.Endpoint;
import org.jrsocket.endpoint.OpenDevices;
import org.jrsocket.threads.ServiceLoop;
import org.jrsocket.verbs.Device;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What becomes of the streams of a device that is lost, or one of whose queues has failed: they end. */
final class DeviceFailures implements OpenDevices.Users {

    private static final Logger LOG = LoggerFactory.getLogger(OpenDevices.class); // whose name people know

    /** The time in which a queue pair that has failed completes what was posted. */
    private static final long FLUSH_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final String DEAD_QUEUE = "a completion queue of this host's device has failed";

    private final ServiceLoop service;
    private final OpenStreams streams;

    DeviceFailures(ServiceLoop service, OpenStreams streams) {
        this.service = service;
        this.streams = streams;
    }

    @Override
    public void lost(Device device) {
        for (RdmaStream stream : streams.now()) {
            if (stream.core().endpoint.device() == device) {
                end(stream);
            }
        }
    }

    /** Ends one stream. There is no second attempt, so trouble with one stream must not affect the others. */
    private static void end(RdmaStream stream) {
        try {
            stream.core().deviceRemoved();
        } catch (RuntimeException | Error e) {
            LOG.error("cannot end {}, whose device was removed or has failed", stream, e);
        }
    }

    /**
     * Ends the stream whose queue has failed. A completion queue reports nothing any more. A queue pair mostly fails
     * what was posted, which says more, but need not. Without a stream, nothing is made of the queue any more.
     */
    @Override
    public void queueFailed(Device device, int event) {
        for (RdmaStream stream : streams.now()) {
            Endpoint endpoint = stream.core().endpoint;
            if (endpoint.device() != device) {
                continue;
            }
            if (endpoint.isOfCompletions(event)) {
                queueFailed(stream, DEAD_QUEUE);
                LOG.warn("a completion queue of RDMA device {} has failed; {} is reset", device.name(), stream);
            } else if (endpoint.isOfQueuePair(event)) {
                int type = Device.eventType(event);
                LOG.debug("the queue pair of {} has failed: asynchronous event {}", stream, type);
                String why = "this host's device has failed the queue pair (asynchronous event " + type + ")";
                service.schedule(() -> queueFailed(stream, why), FLUSH_NANOS);
            }
        }
    }

    private static void queueFailed(RdmaStream stream, String why) {
        try {
            stream.core().queueFailed(why);
        } catch (RuntimeException | Error e) {
            LOG.error("cannot end {}, one of whose queues has failed", stream, e);
        }
    }

    /**
     * Ends a stream whose device or completion queue failed while it was made: the service thread may have looked for
     * the streams that this concerned before this one was there. Called when it is, on any thread.
     */
    void added(RdmaStream stream) {
        Endpoint endpoint = stream.core().endpoint;
        if (endpoint.device().isLost()) {
            service.execute(() -> end(stream));
        } else if (endpoint.hasFailed()) {
            service.execute(() -> queueFailed(stream, DEAD_QUEUE));
        }
    }
}
