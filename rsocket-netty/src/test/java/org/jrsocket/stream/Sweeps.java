/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

/** The passing of time, for tests of other packages. */
public final class Sweeps {

    private Sweeps() {}

    /** As if nothing had moved on the streams of {@code transport} for some seconds. */
    public static void quiet(RdmaTransport transport) {
        for (int i = 0; i < 4; i++) {
            transport.streams().forEach(each -> each.core().sweep.look());
        }
    }
}
