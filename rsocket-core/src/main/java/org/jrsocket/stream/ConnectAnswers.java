/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.stream.PendingConnect.Answer;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Refusal;
import org.jrsocket.wire.WireException;

/** Interprets the connection manager's events for a connecting side: the peer's answer, or the reason for a failure. */
final class ConnectAnswers {

    /** IB's reject reason "invalid service ID": there is no listener. */
    private static final int REJECT_NO_LISTENER = 8;

    /**
     * IB's reject reason "stale connection": the peer has an end of a connection that this host's device has forgotten,
     * with the same queue pair number. This ends it, so the next request may be taken.
     */
    private static final int REJECT_STALE = 10;

    private ConnectAnswers() {}

    /** Returns what the trouble with a call on this host means for an attempt. */
    static RdmaConnectException failure(Throwable e) {
        if (e instanceof RdmaConnectException named) {
            return named;
        }
        return e instanceof IOException io
                ? new RdmaConnectException(reasonOf(io), e.getMessage(), e)
                : new RdmaConnectException(Reason.RESOURCES, e.toString(), e);
    }

    /** Returns what the peer has answered; null if the event comes from this host. */
    static Answer of(CmEvent event) {
        return switch (event.type()) {
            case RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_CONNECT_RESPONSE -> willing(event);
            case RDMA_CM_EVENT_REJECTED ->
                Refusal.parse(event.privateData()) == Refusal.PROBED ? Answer.OURS : Answer.REFUSED;
            case RDMA_CM_EVENT_CONNECT_ERROR, RDMA_CM_EVENT_DISCONNECTED -> Answer.REFUSED;
            default -> null;
        };
    }

    private static Answer willing(CmEvent event) {
        try {
            return ConnData.parse(event.privateData()).hasExtension() ? Answer.OURS : Answer.FOREIGN;
        } catch (WireException e) {
            return Answer.FOREIGN;
        }
    }

    /**
     * Returns why there will be no connection, or null if the event does not mean that. Where the JDK has words for the
     * reason, the message begins with them.
     */
    static RdmaConnectException failure(CmEvent event) {
        int status = event.getStatus();
        return switch (event.type()) {
            case RDMA_CM_EVENT_ADDR_ERROR ->
                failed(
                        status == -Errno.ENODEV ? Reason.NO_DEVICE : Reason.UNRESOLVED,
                        "address not resolved: " + Errno.describe(Math.abs(status)));
            case RDMA_CM_EVENT_ROUTE_ERROR ->
                failed(Reason.UNRESOLVED, "route not resolved: " + Errno.describe(Math.abs(status)));
            case RDMA_CM_EVENT_REJECTED -> refused(status, event.privateData());
            case RDMA_CM_EVENT_UNREACHABLE ->
                failed(Reason.UNREACHABLE, "the peer does not answer RDMA connection requests");
            case RDMA_CM_EVENT_CONNECT_ERROR -> unusable(Math.abs(status));
            case RDMA_CM_EVENT_DISCONNECTED -> failed(Reason.REFUSED, "Connection reset while connecting");
            case RDMA_CM_EVENT_DEVICE_REMOVAL -> failed(Reason.NO_DEVICE, "the device was removed");
            // Address changes and the end of time-wait mean nothing to a connection that is being made.
            default -> null;
        };
    }

    /** Returns why a peer's answer did not make a connection, if that failed with {@code errno}. */
    static RdmaConnectException unusable(int errno) {
        // EINVAL: the answer can no longer be used, because the peer went away right after sending it.
        return failed(
                errno == Errno.EINVAL ? Reason.REFUSED : Reason.RESOURCES,
                "connecting failed: " + Errno.describe(errno));
    }

    private static RdmaConnectException refused(int status, byte[] privateData) {
        int reason = Refusal.parse(privateData);
        if (reason == Refusal.BUSY) {
            return failed(
                    Reason.BUSY, "Connection refused: the peer cannot take another RDMA connection at the moment");
        }
        if (reason == Refusal.UNABLE) {
            return failed(
                    Reason.UNABLE,
                    "Connection refused: the peer's host cannot accept RDMA connections; see the server's log there");
        }
        if (reason == Refusal.DENIED) {
            return failed(
                    Reason.DENIED, "Connection refused by the peer's rules or devices, or because the peer is drained");
        }
        if (status == REJECT_STALE) {
            return failed(
                    Reason.BUSY,
                    "Connection refused: the peer still had an old connection of this host, which ends now");
        }
        String why =
                switch (status) {
                    case REJECT_NO_LISTENER -> ", no RDMA listener there";
                    case -Errno.ECONNREFUSED -> ""; // iWARP, where all refusals look alike
                    default -> ", reject reason " + status;
                };
        return failed(Reason.REFUSED, "Connection refused" + why);
    }

    private static RdmaConnectException failed(Reason reason, String message) {
        return new RdmaConnectException(reason, message, null);
    }

    /** Returns the reason why a call failed that resolves the address or the route, or asks the peer. */
    static Reason reasonOf(IOException e) {
        if (!(e instanceof ErrnoException v)) {
            return Reason.RESOURCES;
        }
        return switch (v.errno()) {
            case Errno.ENODEV, Errno.EINVAL -> Reason.NO_DEVICE;
            case Errno.ENETUNREACH, Errno.EHOSTUNREACH -> Reason.UNRESOLVED;
            // EADDRNOTAVAIL among others: no local port is left, or somebody else has the chosen one. Neither says
            // anything about the peer. That an address is no longer this host's, the next look at its devices shows.
            default -> Reason.RESOURCES;
        };
    }

    /** Returns whether the event means nothing to a request whose result is no longer wanted. */
    static boolean isNothing(CmEvent event) {
        return switch (event.type()) {
            case RDMA_CM_EVENT_ADDR_CHANGE, RDMA_CM_EVENT_TIMEWAIT_EXIT -> true;
            default -> false;
        };
    }
}
