/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/** Messages that go out one at a time and come back, each of them stamped, timed and checked. */
public final class RoundTrips {

    public final byte[] out;
    public final byte[] in;
    private final ByteBuffer stamp;
    private final ByteBuffer answer;
    private final int count;
    private final Histogram histogram = new Histogram(60_000_000_000L, 3);
    private int done;
    private long start;

    public RoundTrips(int size, int count) {
        this.out = new byte[size];
        this.in = new byte[size];
        this.stamp = ByteBuffer.wrap(out);
        this.answer = ByteBuffer.wrap(in);
        this.count = count;
    }

    /** The message in {@link #out} is about to be sent. */
    public void begin() {
        stamp.putInt(0, done).putInt(out.length - 4, done);
        start = System.nanoTime();
    }

    /** It has come back, to {@link #in}. @return whether there is to be another one */
    public boolean end() throws IOException {
        histogram.recordValue(System.nanoTime() - start);
        if (answer.getInt(0) != done || answer.getInt(in.length - 4) != done) {
            throw new IOException(
                    "message " + done + " came back as " + answer.getInt(0) + ".." + answer.getInt(in.length - 4));
        }
        return ++done < count;
    }

    /** In microseconds. */
    public String results() {
        return String.format(
                Locale.ROOT,
                "p50=%.2f mean=%.2f p99=%.2f min=%.2f max=%.2f",
                histogram.getValueAtPercentile(50) / 1e3,
                histogram.getMean() / 1e3,
                histogram.getValueAtPercentile(99) / 1e3,
                histogram.getMinValue() / 1e3,
                histogram.getMaxValue() / 1e3);
    }
}
