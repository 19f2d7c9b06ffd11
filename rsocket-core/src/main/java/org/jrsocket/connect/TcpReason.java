/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.verbs.VerbsUnavailableException;

/** Why a connection uses, or a server listens on, TCP alone. */
public enum TcpReason {
    /** The policy or a rule says so. */
    POLICY("the policy says so"),
    /** The address is not one of those for which RDMA is tried. */
    SCOPE("the address is beyond the scope of RDMA (setting scope), and no rule names it"),
    /** The connection goes through a SOCKS proxy, which speaks TCP. */
    PROXY("it goes through a proxy"),
    /** This process has no RDMA at all. */
    UNAVAILABLE("RDMA is not available"),
    /** An attempt on this peer failed a short while ago. */
    REMEMBERED("RDMA to this peer failed a short while ago"),
    /** RDMA connections to this peer were made, and then lost on the way. */
    PATH("RDMA connections to this peer were lost: what they sent was not acknowledged"),
    /** No RDMA device serves the address. */
    NO_DEVICE("no RDMA device serves this address"),
    /** The address did not resolve to a route over RDMA. */
    UNRESOLVED("the address or route does not resolve over RDMA"),
    /** The peer's RDMA stack did not take the connection; the exception says whether anybody listens there. */
    REFUSED("the peer refused RDMA"),
    /** The peer does not admit this connection over RDMA, by its rules or devices, or because it is drained. */
    DENIED("the peer does not admit this connection over RDMA: its rules or devices say so, or it is drained"),
    /** The peer listens over RDMA but cannot take one more connection at the moment. */
    BUSY("the peer cannot take another RDMA connection now: its queue of connections is full, or its log says why"),
    /** The peer listens over RDMA, but its device refuses to make a connection, as when the settings do not fit it. */
    UNABLE("the peer's host cannot accept RDMA connections; see the server's log there"),
    /** The peer's RDMA stack did not answer the CM's own retries. */
    UNREACHABLE("the peer did not answer over RDMA"),
    /** The peer did not answer within the budget. */
    TIMEOUT("the peer did not answer over RDMA in time"),
    /** The peer speaks something other than rsocket v1. */
    PROTOCOL("the peer does not speak rsocket v1"),
    /** This host lacks memory, queue pairs or descriptors, or a call failed here for a reason of its own. */
    RESOURCES("RDMA failed on this host"),
    /** The port is taken over RDMA, though free over TCP. */
    IN_USE("the port is already in use over RDMA");

    private final String text;

    TcpReason(String text) {
        this.text = text;
    }

    /** Returns the reason as a text for log lines. */
    public String text() {
        return text;
    }

    /** Returns the same, with what the device, the library or the peer said if that says more. */
    String text(Exception detail) {
        String said = detail == null ? null : detail.getMessage();
        return said == null || saysAll() ? text : text + " (" + said + ")";
    }

    /** Returns whether the exception's message says the same in other words, for readers who see it without this. */
    private boolean saysAll() {
        return switch (this) {
            case DENIED, BUSY, UNABLE, UNREACHABLE -> true;
            default -> false;
        };
    }

    static TcpReason of(RdmaConnectException.Reason reason) {
        return switch (reason) {
            case NO_DEVICE -> NO_DEVICE;
            case UNRESOLVED -> UNRESOLVED;
            case REFUSED -> REFUSED;
            case DENIED -> DENIED;
            case BUSY -> BUSY;
            case UNABLE -> UNABLE;
            case UNREACHABLE -> UNREACHABLE;
            case TIMEOUT -> TIMEOUT;
            case PROTOCOL -> PROTOCOL;
            case RESOURCES, CANCELLED -> RESOURCES;
        };
    }

    /** Returns why a server cannot listen over RDMA. */
    static TcpReason ofListening(IOException e) {
        if (e instanceof VerbsUnavailableException) {
            return UNAVAILABLE;
        }
        if (e instanceof ErrnoException verbs) {
            return switch (verbs.errno()) {
                // the second if one of the two is at the wildcard address: TCP shows that the address exists
                case Errno.EADDRINUSE, Errno.EADDRNOTAVAIL -> IN_USE;
                case Errno.ENODEV -> NO_DEVICE;
                default -> RESOURCES;
            };
        }
        return RESOURCES;
    }
}
