/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.function.BiConsumer;
import org.jrsocket.endpoint.BundlePool;
import org.jrsocket.endpoint.EndpointServices;
import org.jrsocket.endpoint.InlineLimits;
import org.jrsocket.endpoint.MemoryBudget;
import org.jrsocket.endpoint.OpenDevices;
import org.jrsocket.threads.Makers;
import org.jrsocket.threads.Reapers;
import org.jrsocket.threads.ServiceLoops;
import org.jrsocket.threads.ServiceThread;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.VerbsProvider;

/**
 * What the connections of a transport share: the connection manager and its event channel, the threads, and what is
 * kept, watched or counted for all of them together. The transport makes it and ends its parts.
 */
final class Services {

    final String description;
    final Cm cm;
    final CmChannel channel;
    /** The first of {@link #loops}: handles the connection manager's events, and ends streams. */
    final ServiceThread service;
    /** Watch streams, and look after what writers leave. */
    final ServiceLoops loops;

    final Makers makers = new Makers();
    final Reapers reapers;
    final MemoryBudget memory = new MemoryBudget();
    final BundlePool bundles;
    final InlineLimits inlineLimits = new InlineLimits();
    final ListeningAddresses listening;
    final OpenDevices devices;
    final EndpointServices endpoints;
    final Closings closings;
    final Farewells farewells;
    /** The log for what peers did that no peer may do. */
    final LimitedLog protocolErrors = new LimitedLog(Logs.STREAM);

    private volatile BiConsumer<InetSocketAddress, InetSocketAddress> pathLost = (local, peer) -> {};

    /**
     * Opens {@code provider}.
     *
     * @param idleNanos how long what connections leave is kept for others
     * @param users are told what happens to devices
     */
    Services(VerbsProvider provider, long idleNanos, ServiceLoops loops, OpenDevices.Users users) throws IOException {
        this.loops = loops;
        service = loops.first();
        reapers = new Reapers(service);
        listening = new ListeningAddresses(service, reapers);
        provider.install();
        description = provider.description();
        cm = provider.openCm();
        bundles = new BundlePool(provider.openVerbs(), idleNanos, memory, service, reapers);
        devices = new OpenDevices(service, bundles, inlineLimits, listening::mayHaveMoved, users);
        endpoints = new EndpointServices(cm, reapers, bundles, inlineLimits, devices);
        closings = new Closings(service);
        farewells = new Farewells(cm, service, reapers);
        channel = cm.createEventChannel();
    }

    /** See {@code RdmaTransport.onPathLost}. */
    void onPathLost(BiConsumer<InetSocketAddress, InetSocketAddress> action) {
        pathLost = action;
    }

    void pathLost(InetSocketAddress local, InetSocketAddress peer) {
        pathLost.accept(local, peer);
    }
}
