/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The places where {@link CountedClasses} allocate: which of them are met, and one that fails. Both class loaders share
 * it.
 */
public final class Allocations {

    private static final List<String> PLACES = new ArrayList<>(); // guarded by the class, as the rest
    private static final Map<Integer, Integer> MET = new TreeMap<>();
    private static int failing = -1;
    private static int passes; // until the one that fails
    private static boolean failed;
    private static volatile boolean watched;

    private Allocations() {}

    static synchronized int number(String place) {
        PLACES.add(place);
        return PLACES.size() - 1;
    }

    public static synchronized String name(int place) {
        return PLACES.get(place);
    }

    /** Places, and how often they were met while they were watched. */
    public static synchronized Map<Integer, Integer> met() {
        return new TreeMap<>(MET);
    }

    /** From now on the {@code time}th watched allocation at {@code place} fails, once; at -1 none does. */
    public static synchronized void fail(int place, int time) {
        failing = place;
        passes = time;
        failed = false;
    }

    public static synchronized boolean hasFailed() {
        return failed;
    }

    public static void watch(boolean on) {
        watched = on;
    }

    /** Called by counted classes before each allocation. */
    public static void at(int place) {
        if (watched) {
            meet(place);
        }
    }

    private static synchronized void meet(int place) {
        if (failing < 0) {
            MET.merge(place, 1, Integer::sum);
        } else if (place == failing && !failed && --passes == 0) {
            failed = true;
            throw new OutOfMemoryError("as the test wants: " + PLACES.get(place));
        }
    }
}
