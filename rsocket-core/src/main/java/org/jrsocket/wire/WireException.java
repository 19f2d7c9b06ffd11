/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.wire;

import java.io.IOException;

/**
 * Thrown when a peer sent something that rsocket v1 does not allow, or is no rsocket peer at all. The message names the
 * field and its value.
 */
public final class WireException extends IOException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param field the name of the field as in C's structure, for example {@code target_sgl.length}
     * @param value what the peer sent there
     * @param rule what is allowed
     */
    public WireException(String field, String value, String rule) {
        super("rsocket: " + field + " is " + value + "; " + rule);
    }
}
