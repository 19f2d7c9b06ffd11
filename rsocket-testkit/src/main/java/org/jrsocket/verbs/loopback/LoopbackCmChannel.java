/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jrsocket.os.EventFd;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.ConnParam;

/** An event channel. Its queue is guarded by the fabric's lock. */
final class LoopbackCmChannel extends CmChannel {

    static final ConnParam NO_PARAM = new ConnParam();
    private static final byte[] NO_DATA = new byte[0];

    /** An event that has not been fetched yet. */
    record Pending(EventType type, int status, LoopbackId listener, LoopbackId id, ConnParam param, byte[] data) {}

    private final EventFd eventFd;
    private final Deque<Pending> events = new ArrayDeque<>();
    /** Checks that only one thread at a time is in getCmEvent. */
    final OneAtATime reader;

    int ids; // guarded by the fabric's lock

    private LoopbackCmChannel(EventFd eventFd, Registry registry) throws IOException {
        super(eventFd.fd());
        this.eventFd = eventFd;
        this.reader = new OneAtATime("fetching events from one channel", registry);
    }

    static LoopbackCmChannel create(Registry registry) throws IOException {
        return new LoopbackCmChannel(new EventFd(), registry);
    }

    void add(EventType type, int status, LoopbackId id) {
        add(new Pending(type, status, null, id, NO_PARAM, NO_DATA));
    }

    void add(Pending event) {
        if (isOpen && !event.id().isDead()) {
            events.add(event);
            eventFd.signal();
        }
    }

    Pending take() {
        Pending event = events.poll();
        if (events.isEmpty()) {
            eventFd.clear();
        }
        return event;
    }

    /** Drops the events of an id that is being destroyed, and returns the new ids in them that were never fetched. */
    List<LoopbackId> purge(LoopbackId id) {
        List<LoopbackId> orphans = events.stream()
                .filter(event -> event.listener() == id)
                .map(Pending::id)
                .toList();
        events.removeIf(event -> event.id() == id || orphans.contains(event.id()));
        if (events.isEmpty()) {
            eventFd.clear();
        }
        return orphans;
    }

    void destroy() {
        isOpen = false;
        eventFd.close();
    }
}
