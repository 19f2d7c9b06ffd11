/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.function.Consumer;
import org.jrsocket.endpoint.Endpoint;
import org.jrsocket.wire.ConnData;

/** What the making of connections needs beside {@link Services}. */
final class CmServices {

    final Services services;
    final CmEvents events;
    final OpenIds openIds = new OpenIds();
    private final OpenStreams streams;
    private final DeviceFailures failures;
    private final Consumer<RdmaStream> whenGone = this::gone;
    private volatile Admission.Limits limits = Admission.Limits.DEFAULT;

    CmServices(Services services, CmEvents events, OpenStreams streams, DeviceFailures failures) {
        this.services = services;
        this.events = events;
        this.streams = streams;
        this.failures = failures;
    }

    /** Makes a stream on a connected endpoint. Called on the service thread or a maker. */
    RdmaStream established(Endpoint endpoint, StreamConfig config, ConnData peer) throws IOException {
        endpoint.ensureWorking();
        InetSocketAddress local = (InetSocketAddress) endpoint.id().getSource();
        InetSocketAddress remote = (InetSocketAddress) endpoint.id().getDestination();
        RdmaStream stream = new RdmaStream(services, endpoint, config, peer, local, remote, whenGone);
        try {
            streams.add(stream);
            failures.added(stream);
            CmHandler handler = stream.core()::onCmEvent;
            endpoint.id().attach(handler); // last: the service thread may use it from here on
        } catch (RuntimeException | Error e) { // the caller frees the endpoint, and others get its queues
            stream.core().freeing.disown();
            streams.remove(stream);
            throw e;
        }
        return stream;
    }

    private void gone(RdmaStream stream) {
        streams.remove(stream);
        events.forgotten(streams.count());
    }

    /** Runs {@code task} on the service thread in so many nanoseconds, after what has arrived by then is handled. */
    void afterEvents(long nanos, Runnable task) {
        Runnable then = () -> {
            try {
                events.takeAll();
            } finally { // without memory, too
                task.run();
            }
        };
        services.service.schedule(then, nanos);
    }

    /** Returns the limits of listeners that are made from now on. */
    Admission.Limits limits() {
        return limits;
    }

    /** Sets other limits, for a test. */
    void limits(Admission.Limits newLimits) {
        limits = newLimits;
    }
}
