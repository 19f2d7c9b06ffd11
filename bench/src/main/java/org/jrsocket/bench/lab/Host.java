/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * How the guest fares on its host. {@code scripts/bench} writes three numbers into the file {@code host} again and
 * again: the seconds that the host is up, the seconds that the guest's CPUs have waited for one of the host's in all,
 * and the number that it last read from {@code wish}: 1 for "measuring", 0 for "not". Safe for use by many threads.
 */
final class Host {

    /** CPUs that the guest may miss on average while a sample counts. */
    static final double QUIET = 0.05;

    /** The host at one moment. */
    private record Mark(double up, double waited, int wish) {}

    /** What the guest missed of the host while one sample was measured. Used by one thread. */
    final class SampleWatch implements Column.Watch {
        private Mark start;
        private double missed;

        @Override
        public void begin() {
            start = measuring(true);
        }

        @Override
        public void end() {
            if (start != null) {
                missed = Host.missed(start, measuring(false));
                start = null;
            }
        }

        /** In CPUs, on average. */
        double missed() {
            return missed;
        }
    }

    private final Path folder;
    private long patienceMillis; // guarded by this
    private boolean silent; // guarded by this

    /** @param patience seconds that may be spent on measuring again, in all */
    Host(Path folder, int patience) {
        this.folder = folder;
        this.patienceMillis = patience * 1000L;
    }

    private Mark mark() {
        try {
            for (int i = 0; i < 100; i++) {
                String[] number =
                        Files.readString(folder.resolve("host")).trim().split(" ");
                if (number.length == 3) {
                    return new Mark(
                            Double.parseDouble(number[0]), Double.parseDouble(number[1]), Integer.parseInt(number[2]));
                }
                sleep(20); // it is being written
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        throw new IllegalStateException("nobody writes " + folder.resolve("host"));
    }

    /** Says whether something is being measured, and waits until the host knows; the host as it is then. */
    private Mark measuring(boolean now) {
        int wish = now ? 1 : 0;
        try {
            Files.writeString(folder.resolve("wish"), Integer.toString(wish));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Mark before = mark();
        Mark mark = before;
        for (int i = 0; i < 200 && (mark.up == before.up || mark.wish != wish); i++) {
            sleep(20);
            mark = mark();
        }
        if (mark.up == before.up || mark.wish != wish) {
            complain();
        }
        return mark;
    }

    private synchronized void complain() {
        if (!silent) {
            silent = true;
            System.out.println(
                    "the host does not answer: each sample takes 8 s longer, and what disturbs one is not seen");
        }
    }

    /** CPUs that the guest missed on average between two looks. */
    private static double missed(Mark from, Mark to) {
        return (to.waited - from.waited) / Math.max(0.1, to.up - from.up);
    }

    /** Whether to measure again what took so long and was disturbed; not for ever. */
    synchronized boolean isPatient(long nanos) {
        if (patienceMillis <= 0) {
            return false;
        }
        patienceMillis -= nanos / 1_000_000;
        return true;
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
