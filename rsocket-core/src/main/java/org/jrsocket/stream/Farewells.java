/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.jrsocket.endpoint.Freeing;
import org.jrsocket.threads.Reapers;
import org.jrsocket.threads.ServiceLoop;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.CmId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Announces the end of connections to peers that may not have heard of it, because their device did not answer or this
 * host's could not send. When an id is destroyed the kernel tells the peer once, and where the path is broken for a few
 * seconds that message is lost: a peer that only waits would keep its end for ever. So the id, and nothing else of the
 * connection, stays until the peer has answered a disconnect, which the kernel repeats for about a minute (fifteen
 * times), as TCP repeats a FIN.
 *
 * <p>While its own link is down a host says nothing, however long that takes: nobody would hear it, and soft-RoCE
 * (Linux 6.1) never again receives a message of the connection manager once it has had no route for one. Where the
 * connection's address is gone the kernel drops the message, even if the address has come back, because it then has
 * another entry in the device's table of addresses. Thread-safe.
 */
final class Farewells {

    private static final Logger LOG = LoggerFactory.getLogger(Farewells.class);

    /** Beyond this number, peers are told once. */
    static final int MOST = 4096;
    /** The time in which the kernel repeats it: it waits 4.3 s for an answer (the CM's response timeout). */
    private static final long TWICE_NANOS = TimeUnit.SECONDS.toNanos(5);
    /** How often a host checks whether its link is up again. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Cm cm;
    private final ServiceLoop service;
    private final Reapers reapers;
    // Made now: where memory is lacking for them, nobody would look again.
    private final Runnable look = this::look;
    private final Runnable lookNow = this::lookNow;

    private final Set<Farewell> waiting = ConcurrentHashMap.newKeySet();
    /** Those of them that no reaper has been told to say yet. */
    private final Set<Farewell> unsaid = ConcurrentHashMap.newKeySet();

    private final AtomicBoolean looksLater = new AtomicBoolean();
    private volatile Predicate<InetAddress> down = Farewells::isDown;
    /** The limit after the first word. By then the kernel has given up. */
    private volatile long longestNanos = TimeUnit.MINUTES.toNanos(3);

    private volatile boolean over;

    Farewells(Cm cm, ServiceLoop service, Reapers reapers) {
        this.cm = cm;
        this.service = service;
        this.reapers = reapers;
    }

    /** Makes {@code judge} decide whether the link of a local address is down; for tests. */
    void judgeBy(Predicate<InetAddress> judge) {
        down = judge;
    }

    /** Sets the limit, for tests. */
    void longestNanos(long nanos) {
        longestNanos = nanos;
    }

    /**
     * Takes over {@code id}, whose queue pair is gone, and frees it once the peer knows. A reaper checks the link and
     * tells the peer: the caller may hold its stream's lock.
     *
     * @param local the connection's own address
     */
    void say(CmId id, InetAddress local) {
        Farewell farewell = null;
        try {
            farewell = new Farewell(id, local);
            keep(farewell);
        } catch (OutOfMemoryError e) { // then the kernel tells the peer, once
            if (farewell != null) {
                waiting.remove(farewell);
                unsaid.remove(farewell);
            }
            Freeing.destroy(id);
        }
    }

    private void keep(Farewell farewell) {
        waiting.add(farewell);
        farewell.id.attach(farewell);
        if (over || waiting.size() > MOST) {
            farewell.end();
            return;
        }
        boolean others = !unsaid.isEmpty();
        unsaid.add(farewell);
        if (others) {
            lookLater();
        } else {
            reapers.reap(look);
        }
    }

    /** Ends the wait for a peer that has left first: the connection was told, before the id was taken over. */
    void heard(CmId id) {
        if (id.attachment() instanceof Farewell farewell) {
            farewell.end();
        }
    }

    /** Has said what can be said. Asks the kernel once for each address. */
    private void look() {
        try {
            Map<InetAddress, Boolean> known = new HashMap<>();
            for (Farewell each : unsaid) {
                if (!known.computeIfAbsent(each.local, down::test)) {
                    each.saySoon();
                }
            }
        } finally { // without memory, too
            if (!unsaid.isEmpty()) {
                lookLater();
            }
        }
    }

    private void lookLater() {
        if (!over && looksLater.compareAndSet(false, true)) {
            try {
                service.scheduleAgain(lookNow, LOOK_NANOS);
            } catch (OutOfMemoryError e) {
                looksLater.set(false);
                throw e;
            }
        }
    }

    private void lookNow() {
        looksLater.set(false);
        try {
            reapers.reap(look);
        } catch (OutOfMemoryError e) {
            lookLater();
        }
    }

    /**
     * Returns whether the address is on a link of this host that is down. If the kernel does not say, it counts as up.
     */
    private static boolean isDown(InetAddress local) {
        try {
            NetworkInterface link = NetworkInterface.getByInetAddress(local);
            return link != null && !link.isUp();
        } catch (SocketException e) {
            return false;
        }
    }

    /**
     * Returns whether a peer may still hear of its connection's end within seconds. A process takes its ids along, and
     * the kernel then says nothing more.
     */
    boolean areFresh() {
        long now = System.nanoTime();
        return waiting.stream().anyMatch(each -> now - each.since < TWICE_NANOS);
    }

    /** Stops waiting for any answers. */
    void end() {
        over = true;
        waiting.forEach(Farewell::end);
    }

    private final class Farewell implements CmHandler {

        private final CmId id;
        final InetAddress local;
        /** When it was said, or else taken over. */
        volatile long since = System.nanoTime();

        private ServiceLoop.Timer last; // guarded by this; null: not said

        Farewell(CmId id, InetAddress local) {
            this.id = id;
            this.local = local;
        }

        /** Has a reaper of its device tell the peer. Without memory for that it stays unsaid, for the next look. */
        void saySoon() {
            reapers.reap(id.getVerbs(), this::say);
            unsaid.remove(this);
        }

        /** Tells the peer, once; never while the id is being freed. */
        private synchronized void say() {
            if (last != null || !waiting.contains(this)) { // said, or ended
                return;
            }
            try {
                cm.disconnect(id);
                since = System.nanoTime();
                last = service.schedule(this::end, longestNanos);
            } catch (IOException | RuntimeException | OutOfMemoryError e) {
                LOG.debug("cannot tell the peer that its connection was lost", e);
                end();
            }
        }

        @Override
        public void onCmEvent(CmEvent event) {
            EventType type = event.type(); // no switch, as in StreamEffects
            // The peer has answered, or asked first, or never will; some kernels wait for the ids of a removed device.
            if (type == EventType.RDMA_CM_EVENT_DISCONNECTED
                    || type == EventType.RDMA_CM_EVENT_TIMEWAIT_EXIT
                    || type == EventType.RDMA_CM_EVENT_DEVICE_REMOVAL) {
                end();
            } // otherwise it concerns the connection, which has ended
        }

        void end() {
            if (!waiting.remove(this)) {
                return;
            }
            unsaid.remove(this);
            try {
                reapers.reap(id.getVerbs(), this::destroy);
            } catch (OutOfMemoryError e) { // then here: nothing else refers to it any more
                destroy();
            }
        }

        private synchronized void destroy() {
            if (last != null) {
                last.cancel(); // else it would hold the id, of which there may be thousands
            }
            Freeing.destroy(id);
        }
    }
}
