/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.perf;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.jrsocket.connect.Policy;
import org.jrsocket.connect.TransportContext;

/** The command {@code ping}: how long connecting to any listener takes, and round trips if that is a {@link Server}. */
public final class Ping {

    /** How long to wait for a greeting: a server of ours greets at once, if its host is not too busy. */
    private static final int GREETING_MILLIS = 3_000;

    private static final int ANSWER_MILLIS = 10_000;
    /** The number of connections timed before the round trips; the very first also loads classes, and is not timed. */
    private static final int CONNECTS = 5;
    /** The number of round trips that are not reported, for the same reason. */
    private static final int WARM_UP = 20;

    private final TransportContext context;
    private final Policy transport;
    private final Report report;

    public Ping(TransportContext context, Policy transport, Report report) {
        this.context = context;
        this.transport = transport;
        this.report = report;
    }

    /**
     * Pings, and prints the result.
     *
     * @param count how often
     * @param intervalNanos the time from one to the next
     * @param size bytes of a message
     * @return whether all were answered
     */
    public boolean run(String name, InetSocketAddress peer, int count, long intervalNanos, int size) {
        try (Run run = new Run()) {
            boolean done = false;
            try {
                Link first = run.use(Link.connect(context, peer, transport));
                report.connected(name, first);
                boolean server = Protocol.isGreeted(first, GREETING_MILLIS);
                first.close();
                if (server) {
                    done = trips(run, name, peer, count, intervalNanos, size);
                } else {
                    report.say("no greeting from a perf server: measuring how long connecting takes");
                    done = connects(run, first, peer, count, intervalNanos);
                }
            } catch (IOException e) {
                report.fail(name + ": " + e.getMessage());
            }
            report.print();
            return done;
        }
    }

    private boolean trips(Run run, String name, InetSocketAddress peer, int count, long intervalNanos, int size)
            throws IOException {
        Histogram setup = Row.histogram();
        Link link = null;
        for (int i = 0; i < CONNECTS && (link == null || !run.isStopped()); i++) {
            if (link != null) {
                link.close();
            }
            link = run.use(Link.connect(context, peer, transport));
            Row.record(setup, link.setupNanos());
        }
        report.add(new Row(
                "connect",
                link.transport(),
                link.device(),
                0,
                setup.getTotalCount(),
                (long) (setup.getMean() * setup.getTotalCount()),
                setup));
        return trips(run, link, name, count, intervalNanos, size);
    }

    private boolean trips(Run run, Link link, String name, int count, long intervalNanos, int size) {
        Histogram times = Row.histogram();
        byte[] message = new byte[size];
        long start = System.nanoTime();
        try (link) {
            if (!Protocol.isGreeted(link, ANSWER_MILLIS)) {
                throw new IOException("the server no longer answers");
            }
            Protocol.request(link, new Protocol.Request(Protocol.Task.ECHO, size));
            for (int i = 0; i < WARM_UP && !run.isStopped(); i++) {
                trip(link, message);
            }
            start = System.nanoTime();
            for (int i = 1; i <= count && !run.isStopped(); i++) {
                long nanos = trip(link, message);
                Row.record(times, nanos);
                report.say(String.format(
                        Locale.ROOT,
                        "%d bytes from %s over %s: seq=%d time=%.1f us",
                        size,
                        name,
                        link.transport(),
                        i,
                        nanos / 1e3));
                if (i < count) {
                    run.sleep(intervalNanos);
                }
            }
        } catch (IOException e) {
            report.fail(name + ": " + e.getMessage());
        }
        report.add(new Row(
                "round trip",
                link.transport(),
                link.device(),
                size,
                times.getTotalCount(),
                System.nanoTime() - start,
                times));
        return times.getTotalCount() == count;
    }

    private static long trip(Link link, byte[] message) throws IOException {
        long start = System.nanoTime();
        link.write(message, message.length);
        if (!link.readFully(message, message.length, ANSWER_MILLIS)) {
            throw new IOException("the server ended the connection");
        }
        return System.nanoTime() - start;
    }

    private boolean connects(Run run, Link first, InetSocketAddress peer, int count, long intervalNanos) {
        Histogram times = Row.histogram();
        long start = System.nanoTime();
        String last = first.transport();
        String device = first.device();
        int answered = 0;
        for (int i = 1; i <= count && !run.isStopped(); i++) {
            try (Link link = run.use(Link.connect(context, peer, transport))) {
                answered++;
                if (!link.transport().equals(last)) {
                    report.add(new Row(
                            "connect",
                            last,
                            device,
                            0,
                            times.getTotalCount(),
                            System.nanoTime() - start,
                            times.copy()));
                    times.reset();
                    last = link.transport();
                    device = link.device();
                }
                Row.record(times, link.setupNanos());
                report.say(String.format(
                        Locale.ROOT,
                        "connected to %s over %s: seq=%d time=%.3f ms",
                        peer,
                        link.transport(),
                        i,
                        link.setupNanos() / (double) TimeUnit.MILLISECONDS.toNanos(1)));
            } catch (IOException e) {
                report.fail(peer + ": " + e.getMessage());
            }
            if (i < count) {
                run.sleep(intervalNanos);
            }
        }
        report.add(new Row("connect", last, device, 0, times.getTotalCount(), System.nanoTime() - start, times));
        return answered == count;
    }
}
