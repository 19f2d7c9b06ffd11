/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.CmId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends of connections whose peer's device did not answer: the peer may live and have heard nothing of it. When an id is
 * destroyed the kernel tells the peer once, and where the path is broken for a few seconds that is lost: a peer that
 * only waits would keep its end for ever. So the id, and nothing else of the connection, stays until the peer has
 * answered a disconnect, which the kernel repeats for about a minute (fifteen times), as TCP repeats a FIN. Any thread.
 */
final class Farewells {

    private static final Logger LOG = LoggerFactory.getLogger(Farewells.class);

    /** Beyond so many, peers are told once. */
    private static final int MOST = 4096;
    /** By then the kernel has given up. */
    private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(3);

    private final RdmaTransport transport;
    private final Set<Farewell> waiting = ConcurrentHashMap.newKeySet();
    private volatile boolean over;

    Farewells(RdmaTransport transport) {
        this.transport = transport;
    }

    /** Takes over {@code id}, whose queue pair is gone, and frees it once the peer knows. */
    void say(CmId id) {
        Farewell farewell = new Farewell(id);
        waiting.add(farewell);
        id.attach(farewell);
        if (!over && waiting.size() <= MOST && farewell.say()) {
            transport.service().schedule(farewell::end, LONGEST_NANOS);
        } else {
            farewell.end();
        }
    }

    /** Nobody waits for an answer any more. */
    void end() {
        over = true;
        waiting.forEach(Farewell::end);
    }

    private final class Farewell implements CmHandler {

        private final CmId id;

        Farewell(CmId id) {
            this.id = id;
        }

        boolean say() {
            try {
                transport.cm().disconnect(id);
                return true;
            } catch (IOException | RuntimeException e) {
                LOG.debug("the peer of a connection that was lost is not told", e);
                return false;
            }
        }

        @Override
        public void onCmEvent(CmEvent event) {
            switch (event.type()) {
                // It has answered, or never will; some kernels wait for the ids of a device that is removed.
                case RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_DEVICE_REMOVAL -> end();
                default -> {
                    // of the connection, which is over
                }
            }
        }

        void end() {
            if (waiting.remove(this)) {
                transport.reap(this::destroy);
            }
        }

        private void destroy() {
            try {
                id.destroyId();
            } catch (IOException | RuntimeException e) {
                LOG.warn("the CM id of a connection that was lost cannot be freed", e);
            }
        }
    }
}
