/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

/** The time at which a posted message moves. */
public enum Delivery {
    /** At once, in the thread that posts it, or that posts the receive it waited for. */
    IMMEDIATE,
    /** Soon, by one thread of the provider; after {@link LoopbackConfig#latencyNanos} if that is set. */
    THREAD,
    /** When the test says so: {@link LoopbackProvider#step()}. */
    STEPPED
}
