/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

/** Thrown when something happened that must not happen. */
final class SimulationFailure extends AssertionError {

    private static final long serialVersionUID = 1;

    SimulationFailure(String what) {
        super(what);
    }
}
