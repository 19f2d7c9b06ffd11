/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.util.function.LongSupplier;

/** {@link System#nanoTime}. A class, because the code of a method reference would be made at run time, at startup. */
final class NanoClock implements LongSupplier {

    static final NanoClock SYSTEM = new NanoClock();

    private NanoClock() {}

    @Override
    public long getAsLong() {
        return System.nanoTime();
    }
}
