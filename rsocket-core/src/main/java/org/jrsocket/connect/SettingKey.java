/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.nio.file.Path;
import java.util.Locale;

/**
 * A setting: its name, its default and its allowed values. All of them are created and read while the JVM starts, so
 * this is not a record that is the key of a map, and there are no lambdas: the JDK would generate code for them at run
 * time.
 */
abstract class SettingKey<T> {

    private static final long[] NANOS = {1_000, 1_000_000, 1_000_000_000, 60_000_000_000L, 3_600_000_000_000L};
    private static final String[] UNITS = {"us", "ms", "s", "m", "h"};

    private final String name;
    private final String defaultValue;
    private final String range;

    private SettingKey(String name, String defaultValue, String range) {
        this.name = name;
        this.defaultValue = defaultValue;
        this.range = range;
    }

    /** Returns the name as an agent argument; the system property has {@code org.jrsocket.} before it. */
    public String name() {
        return name;
    }

    /** Returns the default, as it would be written; null for none. */
    public String defaultValue() {
        return defaultValue;
    }

    /** Returns a readable description of what is allowed. */
    public String range() {
        return range;
    }

    /** @throws IllegalArgumentException with the reason, if the value is not allowed */
    abstract T parse(String value);

    /** Returns the environment variable, such as {@code JRSOCKET_CONNECT_TIMEOUT} for {@code connect.timeout}. */
    public String variable() {
        return "JRSOCKET_" + name.toUpperCase(Locale.ROOT).replace('.', '_');
    }

    static SettingKey<Path> file(String name) {
        return new SettingKey<>(name, null, "a file") {
            @Override
            Path parse(String value) {
                if (value.isBlank()) {
                    throw new IllegalArgumentException("is empty");
                }
                return Path.of(value);
            }
        };
    }

    static SettingKey<Devices> devices(String name) {
        return new SettingKey<>(name, null, Devices.RANGE) {
            @Override
            Devices parse(String value) {
                return Devices.parse(value);
            }
        };
    }

    static <E extends Enum<E>> SettingKey<E> choice(String name, E defaultValue) {
        Class<E> type = defaultValue.getDeclaringClass();
        StringBuilder range = new StringBuilder();
        for (E one : type.getEnumConstants()) {
            range.append(range.isEmpty() ? "" : ", ").append(lower(one));
        }
        return new SettingKey<>(name, lower(defaultValue), range.toString()) {
            @Override
            E parse(String value) {
                return parse(type, value, range());
            }
        };
    }

    static <E extends Enum<E>> E parse(Class<E> type, String value, String range) {
        for (E one : type.getEnumConstants()) {
            if (lower(one).equals(value.toLowerCase(Locale.ROOT))) {
                return one;
            }
        }
        throw new IllegalArgumentException("not one of " + range);
    }

    static SettingKey<Integer> integer(String name, int defaultValue, int min, int max) {
        return new SettingKey<>(name, Integer.toString(defaultValue), min + " to " + max) {
            @Override
            Integer parse(String value) {
                return (int) within(number(value, 9, ""), min, max, range());
            }
        };
    }

    /** Returns a key for bytes: a number, optionally with {@code k}, {@code m} or {@code g} for KiB, MiB and GiB. */
    static SettingKey<Integer> size(String name, String defaultValue, String min, String max) {
        return new SettingKey<>(name, defaultValue, min + " to " + max) {
            @Override
            Integer parse(String value) {
                return (int) within(bytes(value), bytes(min), bytes(max), range());
            }
        };
    }

    /** Returns a key like {@link #size}, for more than an {@code int} holds. */
    static SettingKey<Long> largeSize(String name, String defaultValue, String min, String max) {
        return new SettingKey<>(name, defaultValue, min + " to " + max) {
            @Override
            Long parse(String value) {
                return within(bytes(value), bytes(min), bytes(max), range());
            }
        };
    }

    /** Returns a key for nanoseconds: a number with its unit, or 0. */
    static SettingKey<Long> duration(String name, String defaultValue, String min, String max) {
        return new SettingKey<>(name, defaultValue, min + " to " + max) {
            @Override
            Long parse(String value) {
                return within(nanos(value), nanos(min), nanos(max), range());
            }
        };
    }

    private static long within(long value, long min, long max, String range) {
        if (value < min || value > max) {
            throw new IllegalArgumentException("not within " + range);
        }
        return value;
    }

    private static long bytes(String value) {
        String text = value.toLowerCase(Locale.ROOT);
        int shift = text.endsWith("k") ? 10 : text.endsWith("m") ? 20 : text.endsWith("g") ? 30 : 0;
        String digits = shift == 0 ? text : text.substring(0, text.length() - 1);
        return number(digits, shift == 0 ? 18 : 9, ", optionally with k, m or g") << shift; // a long holds each of them
    }

    private static long nanos(String value) {
        if (value.equals("0")) {
            return 0;
        }
        String text = value.toLowerCase(Locale.ROOT);
        for (int i = 0; i < UNITS.length; i++) { // "ms" before "s", "us" before "s"
            if (text.endsWith(UNITS[i])) {
                long count = number(
                        text.substring(0, text.length() - UNITS[i].length()), 9, " with a unit: us, ms, s, m or h");
                return count > Long.MAX_VALUE / NANOS[i] ? Long.MAX_VALUE : count * NANOS[i]; // more than any key takes
            }
        }
        throw new IllegalArgumentException("not a number with a unit: us, ms, s, m or h");
    }

    private static long number(String digits, int most, String form) {
        if (!isNumber(digits, most)) {
            throw new IllegalArgumentException("not a whole number" + form);
        }
        return Long.parseLong(digits);
    }

    /** Returns whether the text is 1 to {@code most} of the digits 0 to 9. */
    static boolean isNumber(String text, int most) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return !text.isEmpty() && text.length() <= most;
    }

    @Override
    public String toString() {
        return name;
    }

    private static String lower(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
