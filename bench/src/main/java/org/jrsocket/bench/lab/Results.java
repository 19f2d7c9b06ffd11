/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * All samples, in the order they came, and their medians. Used by several threads while waiting readers are measured.
 */
final class Results {

    /**
     * @param value NaN when the measurement failed
     * @param disturbed CPUs that the guest missed meanwhile
     * @param doubt why it does not count, or null
     * @param stalled whether something stood still meanwhile; it counts nevertheless
     */
    record Entry(
            int repetition,
            Row row,
            String key,
            String column,
            double value,
            Proof moved,
            double disturbed,
            String doubt,
            boolean stalled) {}

    private record Place(Row row, String key, String column) {}

    private final List<Entry> entries = new ArrayList<>();
    private final Map<Place, List<Double>> values = new HashMap<>();
    private final Map<Place, List<Double>> disturbed = new HashMap<>();

    synchronized void add(Entry entry) {
        entries.add(entry);
        if (entry.doubt == null) {
            (entry.disturbed > Host.QUIET ? disturbed : values)
                    .computeIfAbsent(new Place(entry.row, entry.key, entry.column), place -> new ArrayList<>())
                    .add(entry.value);
        }
    }

    synchronized List<Entry> entries() {
        return List.copyOf(entries);
    }

    /** Of the undisturbed samples; of the disturbed ones if there are no others; NaN if there are none at all. */
    synchronized double median(Row row, String key, String column) {
        Place place = new Place(row, key, column);
        List<Double> all = values.getOrDefault(place, disturbed.get(place));
        if (all == null) {
            return Double.NaN;
        }
        List<Double> sorted = new ArrayList<>(all);
        Collections.sort(sorted);
        int n = sorted.size();
        return n % 2 == 1 ? sorted.get(n / 2) : (sorted.get(n / 2 - 1) + sorted.get(n / 2)) / 2;
    }

    /** The lowest of the samples that {@link #median} is of. */
    synchronized double lowest(Row row, String key, String column) {
        Place place = new Place(row, key, column);
        List<Double> all = values.getOrDefault(place, disturbed.get(place));
        return all == null ? Double.NaN : Collections.min(all);
    }

    /** Whether all samples there are were disturbed. */
    synchronized boolean isDisturbed(Row row, String key, String column) {
        Place place = new Place(row, key, column);
        return !values.containsKey(place) && disturbed.containsKey(place);
    }

    /** Undisturbed ones. */
    synchronized int count(Row row, String key, String column) {
        List<Double> all = values.get(new Place(row, key, column));
        return all == null ? 0 : all.size();
    }

    /** Samples of the row in which something stood still. */
    synchronized long stalled(Row row, String key, String column) {
        return entries.stream()
                .filter(e -> e.stalled && e.row == row && e.key.equals(key) && e.column.equals(column))
                .count();
    }

    /** Samples of the row that do not count. */
    synchronized long doubted(Row row, String column) {
        return entries.stream()
                .filter(e -> e.row == row && e.column.equals(column) && e.doubt != null)
                .count();
    }
}
