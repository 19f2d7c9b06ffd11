/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

/** The messages of the connection manager, as {@link Faults} names them. */
public enum CmMessage {
    /** A request for a connection. */
    REQ,
    /** The answer that accepts it. */
    REP,
    /** The confirmation of that answer. */
    RTU,
    /** The answer that refuses it. */
    REJ,
    /** A disconnect. */
    DREQ,
    /** The answer to a disconnect. */
    DREP
}
