/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.faults;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * {@code Connections MINUTES PER_MINUTE}: brief connections for so long, and no faults. Prints a line each minute, with
 * what the processes of both hosts hold. Ends with an AssertionError if one is lost, if something is not given back, or
 * if memory or descriptors grow.
 */
final class Connections {

    /** Part of the time after which a JVM has loaded what it needs and its heap has found its size. */
    private static final int WARM = 6;

    private Connections() {}

    public static void main(String[] args) throws Exception {
        int minutes = Integer.parseInt(args[0]);
        try (TwoHosts hosts = new TwoHosts(false)) {
            ComeAndGo brief = new ComeAndGo(hosts, Integer.parseInt(args[1]));
            long start = System.nanoTime();
            Flat client = new Flat("the client");
            Flat server = new Flat("the server");
            brief.begin();
            for (int minute = 1; minute <= minutes; minute++) {
                TimeUnit.NANOSECONDS.sleep(start + Duration.ofMinutes(minute).toNanos() - System.nanoTime());
                brief.assertNoneLost();
                TwoHosts.Held busy = hosts.look(brief.pid());
                System.out.println("minute " + minute + ": " + brief.summary(Duration.ofMinutes(minute)) + "; client "
                        + busy.here() + "; server " + busy.there());
                client.look(busy.here(), minute > (minutes + WARM - 1) / WARM);
                server.look(busy.there(), minute > (minutes + WARM - 1) / WARM);
            }
            brief.rest();
            TwoHosts.Held held = hosts.held(brief.pid());
            System.out.println(brief.summary(Duration.ofMinutes(minutes)) + "; client " + held.here() + "; server "
                    + held.there());
            assertTrue(held.isBare(), held::toString);
        }
        System.exit(0);
    }
}
