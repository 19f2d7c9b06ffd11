/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.net.SocketException;
import java.util.EnumSet;
import java.util.Set;
import org.jrsocket.protocol.Effects;
import org.jrsocket.verbs.CmEvent;

/**
 * Applies to a stream what the steps of its protocol, its CM and failures bring: the end that the peer sends, its
 * departure, a reset, a broken protocol, a dead queue pair. Guarded by the core's lock, which it takes where others
 * call.
 */
final class StreamEffects {

    /**
     * Events that mean that the peer is gone. The last two: the passive side gave up on an answer that we took for the
     * connection. They are not cases of a switch, which needs a class of its own when the first event comes, perhaps
     * after the application's class loader was closed.
     */
    private static final Set<EventType> PEER_GONE = EnumSet.of(
            EventType.RDMA_CM_EVENT_DISCONNECTED,
            EventType.RDMA_CM_EVENT_REJECTED,
            EventType.RDMA_CM_EVENT_CONNECT_ERROR);

    /** The kernel tells of both in the same way. */
    private static final String LOST_DEVICE = "the RDMA device was removed or has failed";

    private final StreamCore core;
    private final boolean resetUnderstood;
    private final Runnable abandon;

    private Runnable pendingLog;
    private String failedWith; // how it failed before it was closed, for the closed event

    /**
     * @param resetUnderstood whether the peer says why it disconnects
     * @param abandon ends the stream even if the application does not close it; may be run with the lock held
     */
    StreamEffects(StreamCore core, boolean resetUnderstood, Runnable abandon) {
        this.core = core;
        this.resetUnderstood = resetUnderstood;
        this.abandon = abandon;
    }

    /** Takes note of what a step has brought. */
    void handle(int effects) {
        if (effects == Effects.NONE) {
            return;
        }
        core.note(effects);
        if (Effects.has(effects, Effects.RESET) && resetUnderstood) { // before its DISCONNECT, which comes with it
            fail(new SocketException("Connection reset"), "reset by the peer");
        }
        core.ended |= Effects.has(effects, Effects.ENDED);
        // As if the answer to a first write had come.
        core.pipeBroken |= Effects.has(effects, Effects.RESET_AFTER_END) && resetUnderstood;
        if (Effects.has(effects, Effects.GONE)) {
            core.peerGone = true;
            core.keepAlive.end();
        }
        if (Effects.has(effects, Effects.VIOLATION)) {
            String violation = core.connection.violation();
            protocolError(violation != null ? violation : core.queues.trouble());
        } else if (Effects.has(effects, Effects.FAILED)) {
            if (core.queues.isPathLost() && isWanted()) {
                core.services.pathLost(core.local, core.remote);
            }
            fail(new SocketException("Connection reset"), core.queues.trouble());
        }
        if (Effects.has(effects, Effects.READABLE)) {
            if (core.closed) { // a reset, as with TCP: nobody will read what comes after a close
                core.out.close(false, true);
                core.pump.flush();
            } else {
                core.discardInput();
            }
        }
    }

    /** Ends the stream because the device neither has an answer from the peer nor reports that there is none. */
    void silent(long seconds) {
        if (isWanted()) {
            core.services.pathLost(core.local, core.remote);
        }
        fail(
                new SocketException("Connection reset"),
                "this host's device has neither completed nor failed a request for " + seconds + " s");
    }

    /** Returns whether both ends still want the connection: if the peer has left, its loss is not the path's fault. */
    private boolean isWanted() {
        return core.failure == null && !core.closed && !core.ended && !core.peerGone;
    }

    /** Makes the connection unusable: waits fail, once what had arrived was read. The first cause wins. */
    void fail(SocketException cause, String detail) {
        core.enter();
        try {
            record(cause, detail);
            core.die();
            core.note(Effects.FAILED);
        } finally {
            core.exit();
        }
    }

    private void record(SocketException cause, String detail) {
        core.keepAlive.end();
        if (core.failure == null) {
            String device = core.endpoint.device().name();
            core.failedAfterEnd = core.ended;
            core.failure = cause; // first: there may be no memory for the rest
            cause.addSuppressed(
                    new StreamFailure(detail + " (" + device + ", " + core.local + " to " + core.remote + ")"));
            if (!core.closed) {
                failedWith = core.failedAfterEnd ? null : detail;
                pendingLog = () -> Logs.STREAM.debug("{} to {} over {}: {}", core.local, core.remote, device, detail);
            }
        }
    }

    /** Handles a peer that broke the protocol: nothing that it sent is used any more. */
    private void protocolError(String what) {
        core.protocolBroken = true;
        core.resetting = true;
        record(new SocketException("Connection reset"), "protocol error: the peer sent " + what);
        pendingLog = () -> core.services.protocolErrors.warn(
                "{} sent {}; the connection to it over {} is reset",
                core.remote,
                what,
                core.endpoint.device().name());
        // the application may close much later, and until then the peer can write into our memory
        abandon.run();
    }

    /**
     * Takes what has to be logged about a failure, to be logged after the lock was released: a logger may itself write
     * to a stream, or wait for a thread that writes to this one. Returns null if there is nothing.
     */
    Runnable takePendingLog() {
        Runnable taken = pendingLog;
        pendingLog = null;
        return taken;
    }

    /** Called when the peer sent what the protocol itself allows, but no peer has a reason to send. */
    void violated(String what) {
        core.connection.violated();
        core.flush();
        core.note(Effects.VIOLATION);
        protocolError(what);
    }

    /** Called on the service thread. */
    void onCmEvent(CmEvent event) {
        EventType type = event.type();
        if (PEER_GONE.contains(type)) {
            peerDisconnected("the peer went away without closing", true);
        } else if (type == EventType.RDMA_CM_EVENT_DEVICE_REMOVAL) {
            deviceRemoved();
        } else if (type == EventType.RDMA_CM_EVENT_UNREACHABLE) {
            // Linux 6.0 and later: the peer's hardware address has changed or is not resolved just now. The connection
            // may work all the same, and only the device knows.
            core.probePeer();
        } else {
            Logs.STREAM.debug("{} to {}: {}", core.local, core.remote, event);
        }
    }

    /** Called when the CM says that the peer is gone, with or without a DISCONNECT before. */
    private void peerDisconnected(String why, boolean expected) {
        core.enter();
        try {
            try {
                core.poll(); // what arrived before it is valid
            } finally { // this is not reported again
                gone(why, expected && core.ended);
            }
        } finally {
            core.exit();
        }
    }

    private void gone(String why, boolean expected) {
        if (!expected) {
            fail(new SocketException("Connection reset"), why);
        }
        core.peerGone = true;
        core.keepAlive.end();
        core.die();
        core.note(Effects.GONE);
    }

    /**
     * Ends the stream because the device was removed from the host, or reported a fatal error. Its memory has to be
     * given back now, whenever the application may close, because some kernels wait for that. Called on the service
     * thread.
     */
    void deviceRemoved() {
        lost(LOST_DEVICE);
    }

    /**
     * Ends the stream because one of its queues has failed, unless something else has ended it by now. Called on the
     * service thread.
     */
    void queueFailed(String why) {
        boolean over;
        core.enter();
        try {
            over = core.failure != null || core.peerGone;
        } finally {
            core.exit();
        }
        if (!over) {
            lost(why);
        }
    }

    private void lost(String why) {
        try {
            core.enter();
            try {
                core.resetting = true;
                // Before a poll, which would find the queue pair in error.
                fail(new SocketException("Connection reset"), why);
                peerDisconnected(why, false);
            } finally {
                core.exit();
            }
        } finally {
            abandon.run();
        }
    }

    /** Returns how the stream failed before it was closed, for people; null if it did not. */
    String failedWith() {
        return failedWith;
    }
}
