/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

/** The messages of the connection manager, as {@link Faults} names them. */
public enum CmMessage {
    REQ,
    REP,
    RTU,
    REJ,
    DREQ,
    DREP
}
