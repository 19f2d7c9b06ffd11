/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.perf;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.jrsocket.connect.Policy;
import org.jrsocket.connect.TransportContext;

/** The command {@code perf HOST}: round trips, then throughput each way, against a {@link Server}. */
public final class Perf {

    /** What can be measured. */
    public enum Measurement {
        LATENCY,
        SEND,
        RECEIVE
    }

    private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int GREETING_MILLIS = 5_000;
    private static final int ANSWER_MILLIS = 30_000;

    private final TransportContext context;
    private final Policy transport;
    private final Report report;
    private final String name;
    private final InetSocketAddress peer;
    private boolean first = true;

    public Perf(TransportContext context, Policy transport, Report report, String name, InetSocketAddress peer) {
        this.context = context;
        this.transport = transport;
        this.report = report;
        this.name = name;
        this.peer = peer;
    }

    /**
     * Measures, and prints the result.
     *
     * @param nanos how long each test takes
     * @param size bytes of a message whose round trip is measured
     * @param block bytes of a write for throughput
     * @return whether all tests were completed
     */
    public boolean run(Set<Measurement> tests, long nanos, int size, int block) {
        boolean done = true;
        try (Run run = new Run()) {
            for (Measurement test : Measurement.values()) {
                if (tests.contains(test) && !run.isStopped()) {
                    try {
                        switch (test) {
                            case LATENCY -> trips(run, nanos, size);
                            case SEND -> send(run, nanos, block);
                            case RECEIVE -> receive(run, nanos, block);
                        }
                    } catch (IOException e) {
                        report.fail(name + ": " + e.getMessage());
                        done = false;
                        break;
                    }
                }
            }
            done &= !run.isStopped();
            report.print();
        }
        return done;
    }

    private Link open(Run run, Protocol.Task task, int size) throws IOException {
        Link link = run.use(Link.connect(context, peer, transport));
        try {
            if (first) {
                report.connected(name, link);
                first = false;
            }
            if (!Protocol.isGreeted(link, GREETING_MILLIS)) {
                throw new IOException(
                        "no greeting from a perf server: start one there with java -jar rsocket.jar perf server");
            }
            Protocol.request(link, new Protocol.Request(task, size));
            return link;
        } catch (IOException e) {
            link.close();
            throw e;
        }
    }

    private void trips(Run run, long nanos, int size) throws IOException {
        Histogram times = Row.histogram();
        byte[] message = new byte[size];
        try (Link link = open(run, Protocol.Task.ECHO, size)) {
            long start = System.nanoTime();
            long now = start;
            long next = start + PROGRESS_NANOS;
            try {
                while (now - start < nanos && !run.isStopped()) {
                    link.write(message, size);
                    if (!link.readFully(message, size, ANSWER_MILLIS)) {
                        throw new IOException("the server ended the connection");
                    }
                    long then = System.nanoTime();
                    Row.record(times, then - now);
                    now = then;
                    if (now - next >= 0) {
                        next = now + PROGRESS_NANOS;
                        report.say(String.format(
                                Locale.ROOT,
                                "round trip %5.1f s  %9d messages of %d bytes, p50 %.1f us, p99 %.1f us",
                                (now - start) / 1e9,
                                times.getTotalCount(),
                                size,
                                times.getValueAtPercentile(50) / 1e3,
                                times.getValueAtPercentile(99) / 1e3));
                        now = System.nanoTime(); // the report is not part of the next round trip
                    }
                }
            } finally {
                report.add(new Row(
                        "round trip",
                        link.transport(),
                        link.device(),
                        size,
                        times.getTotalCount(),
                        System.nanoTime() - start,
                        times));
            }
        }
    }

    private void send(Run run, long nanos, int block) throws IOException {
        byte[] data = new byte[block];
        try (Link link = open(run, Protocol.Task.SINK, block)) {
            Meter meter = new Meter("send");
            try {
                while (meter.elapsed() < nanos && !run.isStopped()) {
                    link.write(data, block);
                    meter.moved(block);
                }
                link.shutdownOutput();
                byte[] answer = new byte[Long.BYTES];
                if (!link.readFully(answer, answer.length, ANSWER_MILLIS)) {
                    throw new IOException("the server ended the connection");
                }
                long arrived = ByteBuffer.wrap(answer).getLong();
                if (arrived != meter.bytes) {
                    throw new IOException(meter.bytes + " bytes were sent, but " + arrived + " arrived");
                }
            } finally { // the time ends when the last byte has arrived
                report.add(meter.row(link, block));
            }
        }
    }

    private void receive(Run run, long nanos, int block) throws IOException {
        byte[] data = new byte[block];
        try (Link link = open(run, Protocol.Task.SOURCE, block)) {
            Meter meter = new Meter("receive");
            try {
                while (meter.elapsed() < nanos && !run.isStopped()) {
                    int n = link.read(data, 0, block, ANSWER_MILLIS);
                    if (n < 0) {
                        throw new IOException("the server ended the connection");
                    }
                    meter.moved(n);
                }
            } finally {
                report.add(meter.row(link, block));
            }
        }
    }

    /** Counts bytes, and reports them each second. */
    private final class Meter {
        private final String test;
        private final long start = System.nanoTime();
        private long next = start + PROGRESS_NANOS;
        private long last = start;
        private long told;
        private long bytes;

        Meter(String test) {
            this.test = test;
        }

        long elapsed() {
            return System.nanoTime() - start;
        }

        void moved(int n) {
            bytes += n;
            long now = System.nanoTime();
            if (now - next >= 0) {
                report.say(String.format(
                        Locale.ROOT,
                        "%-10s %5.1f s  %9.1f MB, %.1f MB/s",
                        test,
                        (now - start) / 1e9,
                        bytes / 1e6,
                        (bytes - told) * 1e3 / (now - last)));
                told = bytes;
                last = now;
                next = now + PROGRESS_NANOS;
            }
        }

        /** Returns the result in whole blocks: the last one received may have been cut short. */
        Row row(Link link, int block) {
            return new Row(
                    test, link.transport(), link.device(), block, bytes / block, System.nanoTime() - start, null);
        }
    }
}
