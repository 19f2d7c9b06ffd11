/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.jrsocket.endpoint.Freeing;
import org.jrsocket.endpoint.MemoryBudget;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.Device;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Refusal;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Refuses requests for a listener: decides what the client is told, and which thread tells it. A reaper normally does,
 * because it takes system calls. But the reapers may be behind, and peers set the rate. So beyond {@link #MOST_WAITING}
 * the caller does it itself, and requests wait in the kernel, which drops the excess. Used on the service thread unless
 * stated otherwise.
 */
final class Refusals {

    private static final Logger LOG = LoggerFactory.getLogger(Refusals.class);

    /** The most requests that may wait for a reaper at a time. */
    static final int MOST_WAITING = 256;

    /** Clients in a row that may have given up, on a device that has accepted nobody yet. */
    private static final int MOST_GONE = 3;

    private static final byte[] NOTHING = new byte[0];

    private final Cm cm;
    private final BiConsumer<Device, Runnable> reapers;
    private final Object listener; // for people
    private final LimitedLog failures = new LimitedLog(LOG);
    private final AtomicInteger waiting = new AtomicInteger();
    /** Names of the devices on which this listener has made a connection; a host has only a few. */
    private final Set<String> able = new HashSet<>();

    private String lastTrouble = ""; // the last one that was warned of
    private int unaccepted; // in a row

    Refusals(Cm cm, BiConsumer<Device, Runnable> reapers, Object listener) {
        this.cm = cm;
        this.reapers = reapers;
        this.listener = listener;
    }

    /** Returns the number of requests that wait for a reaper. May be called from any thread. */
    int waiting() {
        return waiting.get();
    }

    /** Tells the client, and frees the request. Called without a lock that another thread waits for. */
    void refuse(CmId request, byte[] reason) {
        refuse(request, reason, () -> {});
    }

    /** Refuses a request for which there is no room. */
    void refuseBusy(Admission.Request asked) {
        LOG.debug(
                "a connection request to the {} from {} was refused: too many connections wait to be accepted, or too"
                        + " many handshakes are under way",
                listener,
                asked.source());
        refuse(asked.id(), busy(asked.peer()));
    }

    /** Refuses likewise, and runs {@code then} when the client has its answer, on the thread that gives it. */
    void refuse(CmId request, byte[] reason, Runnable then) {
        boolean handedOver = false;
        if (waiting.incrementAndGet() <= MOST_WAITING) {
            try {
                reapers.accept(request.getVerbs(), () -> answer(request, reason, then));
                handedOver = true;
            } catch (RuntimeException | Error e) { // lack of memory, say
                LOG.debug("no reaper rejects a request to the {}", listener, e);
            }
        }
        if (!handedOver) {
            answer(request, reason, then);
        }
    }

    private void answer(CmId request, byte[] reason, Runnable then) {
        try {
            cm.reject(request, reason);
            then.run();
        } catch (IOException | RuntimeException | Error e) { // whatever happened, the request is ours to free
            LOG.debug("rejecting a request to the {} failed", listener, e);
        } finally {
            Freeing.destroy(request);
            waiting.decrementAndGet();
        }
    }

    /** Returns the reason that says nothing, as C's rsocket does. */
    static byte[] nothing() {
        return NOTHING;
    }

    /** Returns what {@code peer} is told if there is no room for one more connection. May be called from any thread. */
    static byte[] busy(ConnData peer) {
        return of(peer, Refusal.BUSY);
    }

    private static byte[] of(ConnData peer, int reason) {
        return peer.hasExtension() ? Refusal.encode(reason) : NOTHING;
    }

    /** Records that a request was accepted on this device: later failures there mean that something is lacking. */
    void made(String device) {
        able.add(device);
        lastTrouble = "";
        unaccepted = 0;
    }

    /**
     * Returns what {@code peer} is told if nothing could be made for it on {@code device}: to come again if the trouble
     * will pass by itself, otherwise to leave this host alone for a while.
     */
    byte[] unmade(ConnData peer, String device, Throwable why) {
        return of(peer, passes(device, why) ? Refusal.BUSY : Refusal.UNABLE);
    }

    /** Devices differ in what they report when they have no queue pair left; one that has made one can make them. */
    private boolean passes(String device, Throwable why) {
        return isLack(why) || able.contains(device);
    }

    /** Returns whether the cause is this host's lack of memory or descriptors, or a device (and listener) just gone. */
    static boolean isLack(Throwable why) {
        for (Throwable each = why; each != null; each = each.getCause()) {
            if (each instanceof OutOfMemoryError || each instanceof MemoryBudget.UsedUp) {
                return true;
            }
            if (each instanceof ErrnoException e) {
                switch (e.errno()) {
                    case Errno.ENOMEM, Errno.EAGAIN, Errno.ENFILE, Errno.EMFILE, Errno.ENODEV -> {
                        return true;
                    }
                    default -> {
                        // the device's own word
                    }
                }
            }
        }
        return false;
    }

    /**
     * Reports that a request could not be accepted, though all was made for it. With EINVAL its client has probably
     * given up in the meantime. But drivers use that errno, too, for what they cannot do, and then accept nobody.
     */
    void reportUnaccepted(String device, Throwable why) {
        boolean gone = why instanceof ErrnoException e && e.errno() == Errno.EINVAL;
        if (gone && (able.contains(device) || ++unaccepted < MOST_GONE)) {
            LOG.debug("a client of the {} gave up before it was answered: {}", listener, why.toString());
        } else {
            report(device, why);
        }
    }

    /** Reports a failure in the log; a lasting one only once. */
    void report(String device, Throwable why) {
        if (passes(device, why)) {
            failures.warn("a connection request to the {} over {} was refused: {}", listener, device, why.toString());
            return;
        }
        String trouble = why.toString();
        if (trouble.equals(lastTrouble)) {
            LOG.debug("a connection request to the {} over {} was refused, as before: {}", listener, device, trouble);
            return;
        }
        lastTrouble = trouble;
        failures.warn(
                "the {} cannot accept RDMA connections on {}: {}. Its clients use TCP until this is fixed and the"
                        + " process is restarted; for details run java -jar rsocket.jar doctor",
                listener,
                device,
                why.getMessage() == null ? trouble : why.getMessage());
    }
}
