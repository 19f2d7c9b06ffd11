/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.net.InetSocketAddress;
import org.jrsocket.endpoint.Endpoint;
import org.jrsocket.protocol.Effects;
import org.jrsocket.threads.ServiceThread;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.wire.ConnData;

/**
 * A stream's core with the parts that work on it: has them act on what the protocol's steps bring, and, when a thread
 * leaves, has them do what that thread has to leave behind.
 */
final class StreamDriver extends StreamCore {

    private final ServiceThread loop; // watches the stream, and looks after what writers leave
    final StreamEffects effects;
    final Growth growth;
    final StreamWaiter waits;
    final StreamLeftover leftover;
    final StreamFreeing freeing;
    final StreamClosing closing;
    final StreamSweep sweep;

    /**
     * Takes over {@code endpoint}, which is connected.
     *
     * @param whenGone is run once when nothing native is left
     */
    StreamDriver(
            Services services,
            Endpoint endpoint,
            StreamConfig config,
            ConnData peer,
            InetSocketAddress local,
            InetSocketAddress remote,
            Runnable whenGone) {
        super(services, endpoint, config, peer, local, remote);
        this.loop = services.loops.next();
        this.effects = new StreamEffects(this, peer.hasFeature(ConnData.FEATURE_RESET), this::abandon);
        this.growth = new Growth(this);
        this.waits = new StreamWaiter(this, loop, this::onReadable);
        this.leftover = new StreamLeftover(this, effects, waits);
        this.freeing = new StreamFreeing(this, waits, whenGone);
        this.closing = new StreamClosing(this, effects, waits, freeing);
        this.sweep = new StreamSweep(this, effects, closing);
    }

    @Override
    void react(int step) {
        effects.handle(step);
    }

    @Override
    void violated(String what) {
        effects.violated(what);
    }

    @Override
    void exit() {
        if (isNested()) {
            unlock();
            return;
        }
        boolean add = leftover.toBeListed();
        int news = takeNews();
        Runnable words = Effects.has(news, Effects.FAILED | Effects.VIOLATION) ? effects.takePendingLog() : null;
        boolean grows = growth.isToBegin();
        boolean closes = closing.isToGoOn();
        unlock();
        try {
            if (add) {
                loop.leftovers().add(leftover);
            }
            if (news != Effects.NONE) {
                waits.progressed();
            }
            if (words != null) {
                words.run();
            }
        } finally {
            try {
                if (closes) {
                    services.service.execute(closing::step); // if this fails: the next look does that
                }
            } finally {
                if (grows) {
                    growth.begin();
                }
            }
        }
    }

    /** Called on the service thread. */
    void onCmEvent(CmEvent event) {
        effects.onCmEvent(event);
        closing.step();
    }

    /** Called on the service thread. */
    void deviceRemoved() {
        effects.deviceRemoved();
        closing.step();
    }

    /** Ends the stream because one of its queues has failed. Called on the service thread. */
    void queueFailed(String why) {
        effects.queueFailed(why);
        closing.step();
    }

    private void abandon() {
        closing.abandon();
    }

    /** Called on the stream's loop when the completion channel has events. */
    private void onReadable() {
        Throwable failed = waits.takeEvents();
        if (failed != null) {
            leftover.fail(failed); // without the lock, because it logs
        }
        if (closing.isUnderWay()) {
            step();
        }
    }

    /** Closes are the service thread's, which may be another one. */
    private void step() {
        if (services.service.isCurrent()) {
            closing.step();
        } else {
            services.service.execute(closing::step);
        }
    }
}
