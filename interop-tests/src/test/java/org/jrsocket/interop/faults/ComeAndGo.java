/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jrsocket.interop.JvmProcess;

/** Brief connections beside the traffic of {@link TwoHosts}, from a JVM of their own to the same server. */
final class ComeAndGo {

    private final TwoHosts hosts;
    private final int perMinute;
    private final JvmProcess client;
    private final String pid;
    private int asked;
    private int done;
    private int lost;
    private long rdma;

    /** @param perMinute at most: a machine that is too slow for it makes fewer */
    ComeAndGo(TwoHosts hosts, int perMinute) throws IOException, InterruptedException {
        this.hosts = hosts;
        this.perMinute = perMinute;
        client = hosts.start();
        pid = client.awaitLine(Pattern.compile("^ready=(\\d+)$"), TwoHosts.PATIENCE)
                .group(1);
    }

    String pid() {
        return pid;
    }

    /** Goes on, whatever it remembers of the server. */
    void begin() throws IOException {
        client.tell("forget");
        client.tell("churn " + hosts.ports() + ' ' + perMinute);
    }

    /** None has been lost since {@link #begin}: nothing is wrong yet. */
    void assertNoneLost() throws IOException, InterruptedException {
        Matcher now = ask();
        assertEquals(0, count(now, "lost"), now::group);
    }

    /** Opens no more, and sees all come to their end. */
    void rest() throws IOException, InterruptedException {
        client.tell("rest");
        long deadline = System.nanoTime() + TwoHosts.PATIENCE.toNanos();
        for (Matcher now = ask(); count(now, "left") > 0; now = ask()) {
            Matcher last = now;
            assertTrue(
                    System.nanoTime() - deadline < 0,
                    () -> "brief connections do not come to their end: " + last.group());
            TimeUnit.MILLISECONDS.sleep(300);
        }
    }

    private Matcher ask() throws IOException, InterruptedException {
        client.tell("churned " + ++asked);
        Matcher now = client.awaitLine(
                Pattern.compile("^churned=" + asked + " rdma=(?<rdma>\\d+) left=(?<left>\\d+) done=(?<done>\\d+)"
                        + " lost=(?<lost>\\d+) altered=(?<altered>\\d+) endings=.*$"),
                TwoHosts.PATIENCE);
        done += count(now, "done");
        lost += count(now, "lost");
        rdma = count(now, "rdma");
        assertEquals(0, count(now, "altered"), now::group);
        return now;
    }

    private static int count(Matcher line, String what) {
        return Integer.parseInt(line.group(what));
    }

    /** What has become of all of them. */
    String summary(Duration time) {
        return done + " brief connections verified, " + done / Math.max(1, time.toMinutes()) + " a minute; " + lost
                + " met a fault; " + rdma + " over RDMA";
    }
}
