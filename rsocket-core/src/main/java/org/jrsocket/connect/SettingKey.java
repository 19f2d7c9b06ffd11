/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * One setting: its name, what it is when nobody sets it, and what it may be.
 *
 * @param name as an agent argument; {@code org.jrsocket.} before it makes the system property
 * @param fallback the default, as one would write it; null for none
 * @param range what is allowed, for people
 * @param parser throws IllegalArgumentException with the reason for anything else
 */
public record SettingKey<T>(String name, String fallback, String range, Function<String, T> parser) {

    private static final long[] NANOS = {1_000, 1_000_000, 1_000_000_000, 60_000_000_000L, 3_600_000_000_000L};
    private static final String[] UNITS = {"us", "ms", "s", "m", "h"};

    /** The environment variable: {@code connect.timeout} is {@code JRSOCKET_CONNECT_TIMEOUT}. */
    public String variable() {
        return "JRSOCKET_" + name.toUpperCase(Locale.ROOT).replace('.', '_');
    }

    static SettingKey<Path> file(String name) {
        return new SettingKey<>(name, null, "a file", value -> {
            if (value.isBlank()) {
                throw new IllegalArgumentException("is empty");
            }
            return Path.of(value);
        });
    }

    static <E extends Enum<E>> SettingKey<E> choice(String name, E fallback) {
        Class<E> type = fallback.getDeclaringClass();
        String range =
                Arrays.stream(type.getEnumConstants()).map(SettingKey::lower).collect(Collectors.joining(", "));
        return new SettingKey<>(name, lower(fallback), range, value -> parse(type, value, range));
    }

    static <E extends Enum<E>> E parse(Class<E> type, String value, String range) {
        for (E one : type.getEnumConstants()) {
            if (lower(one).equals(value.toLowerCase(Locale.ROOT))) {
                return one;
            }
        }
        throw new IllegalArgumentException("not one of " + range);
    }

    static SettingKey<Integer> integer(String name, int fallback, int min, int max) {
        return new SettingKey<>(
                name,
                Integer.toString(fallback),
                min + " to " + max,
                value -> within(number(value, ""), min, max, "" + min, "" + max));
    }

    /** Bytes: a number, or one with {@code k} or {@code m} for KiB and MiB. */
    static SettingKey<Integer> size(String name, String fallback, String min, String max) {
        return new SettingKey<>(
                name, fallback, min + " to " + max, value -> within(bytes(value), bytes(min), bytes(max), min, max));
    }

    /** As {@link #size}, of more than an {@code int} holds. */
    static SettingKey<Long> largeSize(String name, String fallback, String min, String max) {
        return new SettingKey<>(name, fallback, min + " to " + max, value -> {
            long bytes = bytes(value);
            if (bytes < bytes(min) || bytes > bytes(max)) {
                throw new IllegalArgumentException("not within " + min + " to " + max);
            }
            return bytes;
        });
    }

    /** Nanoseconds: a number with its unit, or 0. */
    static SettingKey<Long> duration(String name, String fallback, String min, String max) {
        return new SettingKey<>(name, fallback, min + " to " + max, value -> {
            long nanos = nanos(value);
            if (nanos < nanos(min) || nanos > nanos(max)) {
                throw new IllegalArgumentException("not within " + min + " to " + max);
            }
            return nanos;
        });
    }

    private static int within(long value, long min, long max, String minText, String maxText) {
        if (value < min || value > max) {
            throw new IllegalArgumentException("not within " + minText + " to " + maxText);
        }
        return (int) value;
    }

    private static long bytes(String value) {
        String text = value.toLowerCase(Locale.ROOT);
        int shift = text.endsWith("k") ? 10 : text.endsWith("m") ? 20 : text.endsWith("g") ? 30 : 0;
        return number(shift == 0 ? text : text.substring(0, text.length() - 1), ", optionally with k, m or g") << shift;
    }

    private static long nanos(String value) {
        if (value.equals("0")) {
            return 0;
        }
        String text = value.toLowerCase(Locale.ROOT);
        for (int i = 0; i < UNITS.length; i++) { // "ms" before "s", "us" before "s"
            if (text.endsWith(UNITS[i])) {
                long count =
                        number(text.substring(0, text.length() - UNITS[i].length()), " with a unit: us, ms, s, m or h");
                return count > Long.MAX_VALUE / NANOS[i] ? Long.MAX_VALUE : count * NANOS[i]; // more than any key takes
            }
        }
        throw new IllegalArgumentException("not a number with a unit: us, ms, s, m or h");
    }

    private static long number(String digits, String form) {
        if (!digits.matches("[0-9]{1,9}")) {
            throw new IllegalArgumentException("not a whole number" + form);
        }
        return Long.parseLong(digits);
    }

    private static String lower(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
