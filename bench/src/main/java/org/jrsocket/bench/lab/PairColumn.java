/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.io.IOException;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** A {@link Pair}, and one way of waiting. */
final class PairColumn implements Column {

    /** Starts the processes. */
    interface Starter {
        /**
         * @param again whether such processes may run already
         */
        Pair start(boolean again) throws IOException;
    }

    /** A pair that several columns use, started when the first of them prepares. */
    static final class Shared {
        private final Starter starter;
        private Pair pair;

        Shared(Starter starter) {
            this.starter = starter;
        }

        Pair get() throws IOException {
            if (pair == null || !pair.isAlive()) {
                pair = starter.start(false);
            }
            return pair;
        }

        /** Other processes than {@link #get}'s, of the caller's own. */
        Pair fresh() throws IOException {
            return starter.start(true);
        }

        void close() {
            if (pair != null) {
                pair.close();
                pair = null;
            }
        }
    }

    /** A sample that takes so many times as long as it was to counts like all others, marked and listed. */
    private static final int STALLED = 10;

    private static final int MAX_ROUNDS = 15;
    private static final int QUICK_MAX_ROUNDS = 6;
    private static final int BRIEF_SECONDS_OF_ROUND = 4;
    /** That many of 64 bytes make a JVM warm, if nobody wants to wait for its compilers to rest. */
    private static final int WARM_ROUND_TRIPS = 40_000;

    private static final int WARM_AT_ONCE = 5000;
    /**
     * The same for connections. Their compilers use little by the time of 3,000, but make methods that matter for as
     * many again.
     */
    private static final int WARM_CONNECTIONS = 6000;

    private static final int WARM_CONNECTIONS_AT_ONCE = 300;
    /** After so many seconds those that were made have to be enough; after twice as many more, the rounds. */
    private static final int WARM_SECONDS = Integer.getInteger("jrsocket.bench.warm", 40);

    private static final int QUICK_WARM_SECONDS = 10;
    /** Warm enough: the compilers of both JVMs used less than this part of a round's time, two rounds running. */
    private static final double COMPILING = 0.05;

    private final String id;
    private final String title;
    private final boolean rdma;
    private final String wait;
    private final Shared shared;
    private final Set<Row> rows;
    private boolean brief;
    private Pair warm;
    private final SampleSize samples = new SampleSize();

    PairColumn(String id, String title, boolean rdma, String wait, Shared shared, Set<Row> rows) {
        this.id = id;
        this.title = title;
        this.rdma = rdma;
        this.wait = wait;
        this.shared = shared;
        this.rows = EnumSet.copyOf(rows);
    }

    /** Has it warm up by {@value #WARM_ROUND_TRIPS} round trips, whatever the compilers do after them. */
    PairColumn brief() {
        brief = true;
        return this;
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public String title() {
        return title;
    }

    @Override
    public boolean isRdma() {
        return rdma;
    }

    @Override
    public boolean has(Row row) {
        return rows.contains(row);
    }

    /**
     * Runs all rows for about a second each, again and again, until the compilers rest; the last round also tells how
     * many operations make a sample.
     */
    @Override
    public String prepare(boolean quick) throws IOException {
        if (rows.stream().allMatch(Row::isCold)) {
            return "none; a new pair of processes each time";
        }
        Pair pair = shared.get();
        warm = pair;
        pair.go();
        try {
            return warmUp(pair, quick);
        } finally {
            pair.rest();
        }
    }

    private String warmUp(Pair pair, boolean quick) throws IOException {
        int calm = 0;
        int round = 0;
        long operations = 0;
        long start = System.nanoTime();
        double compiling = 0;
        int patience = quick ? QUICK_WARM_SECONDS : WARM_SECONDS;
        if (brief && rows.stream().anyMatch(row -> row.kind == Row.Kind.RTT && !row.isCold())) {
            operations += repeat(pair, "rtt 64 ", WARM_ROUND_TRIPS, WARM_AT_ONCE, patience);
        }
        if (brief && rows.contains(Row.TOUCH)) {
            operations += repeat(pair, "touch ", WARM_CONNECTIONS, WARM_CONNECTIONS_AT_ONCE, patience);
        }
        long rounds = System.nanoTime();
        int most = brief ? 2 * patience / BRIEF_SECONDS_OF_ROUND : quick ? QUICK_MAX_ROUNDS : MAX_ROUNDS;
        while (round < most && calm < 2 && !(brief && round > 0 && secondsSince(rounds) >= 2 * patience)) {
            round++;
            long roundStart = System.nanoTime();
            double before = pair.compilerSeconds();
            for (Row row : rows) {
                if (row.kind != Row.Kind.IDLE && !row.isCold()) {
                    int count = samples.count(row, quick);
                    samples.learn(row, seconds(row, count, run(pair, row, count)), count);
                    operations += count;
                }
            }
            compiling = (pair.compilerSeconds() - before) / secondsSince(roundStart);
            calm = compiling < COMPILING ? calm + 1 : 0;
        }
        return String.format(
                Locale.ROOT,
                "%d rounds, %d operations, %.0f s; compilers used %.0f%% of a CPU in the last round",
                round,
                operations,
                secondsSince(start),
                100 * compiling);
    }

    /** Until {@code wanted} were made or the time is over; how many that were. */
    private long repeat(Pair pair, String command, int wanted, int atOnce, int seconds) throws IOException {
        long start = System.nanoTime();
        long made = 0;
        while (made < wanted && secondsSince(start) < seconds) {
            pair.ask(command + atOnce + " " + wait);
            made += atOnce;
        }
        return made;
    }

    private static double secondsSince(long start) {
        return (System.nanoTime() - start) / 1e9;
    }

    private Map<String, Double> run(Pair pair, Row row, int count) throws IOException {
        return pair.ask(
                switch (row.kind) {
                    case RTT -> "rtt " + row.size + " " + count + " " + wait;
                    case BANDWIDTH, RATE -> "stream " + row.size + " " + count + " " + row.readSize + " " + wait;
                    case CONNECTS -> "touch " + count + " " + wait;
                    case IDLE -> "idle " + count + " sleep";
                });
    }

    private static double seconds(Row row, int count, Map<String, Double> values) {
        return row.kind == Row.Kind.RTT ? values.get("p50") * count / 1e6 : values.get("seconds");
    }

    @Override
    public Sample measure(Row row, boolean quick, Watch watch) throws IOException {
        if (row.isCold()) {
            try (Pair fresh = shared.fresh()) {
                return new Sample(watched(fresh, row, row.count, watch), row.count);
            }
        }
        if (shared.get() != warm) { // the one before has died
            prepare(quick);
        }
        Pair pair = warm;
        int count = row.kind == Row.Kind.IDLE ? quick ? 4 : row.count : samples.count(row, quick);
        Map<String, Double> values;
        pair.go();
        try {
            values = new HashMap<>(watched(pair, row, count, watch));
        } catch (IOException e) {
            pair.dumpThreads();
            shared.close();
            throw e;
        } finally {
            pair.rest();
        }
        Double seconds = values.get("seconds");
        if (seconds != null) {
            values.put("rate", row.rate(count, seconds));
        }
        return new Sample(values, count, seconds != null && seconds > STALLED * SampleSize.seconds(row, quick));
    }

    private Map<String, Double> watched(Pair pair, Row row, int count, Watch watch) throws IOException {
        watch.begin();
        try {
            return run(pair, row, count);
        } finally {
            watch.end();
        }
    }

    @Override
    public void close() {
        shared.close();
    }
}
