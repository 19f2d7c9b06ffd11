/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.threads;

import java.util.concurrent.TimeUnit;

/** What tests of other packages have a service thread do, and ask it. */
public final class ServiceThreads {

    private ServiceThreads() {}

    /** Has {@code action} run whenever a timer has got its place, until another one is set. */
    public static void afterPlacing(ServiceThread service, Runnable action) {
        service.timers().afterPlacing(action);
    }

    /** Returns how many timers are due later than in so many nanoseconds. Called on the service thread. */
    public static int timersLaterThan(ServiceThread service, long nanos) {
        return service.timersLaterThan(nanos);
    }

    /** Returns how many timers are due within so many nanoseconds, or overdue. Called on the service thread. */
    public static int timersWithin(ServiceThread service, long nanos) {
        return service.timersLaterThan(-TimeUnit.DAYS.toNanos(1)) - service.timersLaterThan(nanos);
    }

    /** Returns how many reapers a device has at most. */
    public static int mostReapers() {
        return Reapers.MOST;
    }
}
