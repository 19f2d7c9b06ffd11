/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

/** Sizes and times as people write them. */
class ClientOptionsTest {

    @ParameterizedTest
    @CsvSource({"1, 1", "64, 64", "64k, 65536", "2K, 2048", "1m, 1048576", "3M, 3145728", "16m, 16777216"})
    void shouldTakeSizesInBytesKibibytesAndMebibytes(String text, int bytes) {
        assertEquals(bytes, new ClientOptions.Size().convert(text));
    }

    /** The last but one is 1m and as much as a {@code long} has no room for. */
    @ParameterizedTest
    @ValueSource(
            strings = {"", "0", "0k", "-1", "16777217", "16385k", "17m", "k", "1g", "1kk", "17592186044417m", "0x1"})
    void shouldTakeNoOtherSizes(String text) {
        assertEquals(
                "'" + text + "' is not a size from 1 to 16m",
                assertThrows(TypeConversionException.class, () -> new ClientOptions.Size().convert(text))
                        .getMessage());
    }

    /** What is too short for the clock is not 0, which would mean no time at all. */
    @ParameterizedTest
    @CsvSource({"5, 5000000000", "0.2, 200000000", "86400, 86400000000000", "1e-9, 1", "1e-12, 1"})
    void shouldTakeSecondsAndPartsOfThem(String text, long nanos) {
        assertEquals(nanos, new ClientOptions.Seconds().convert(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "-1", "86400.1", "NaN", "Infinity", "1 s", "never"})
    void shouldTakeNoOtherTimes(String text) {
        assertEquals(
                "'" + text + "' is not a number of seconds above 0 and up to 86400",
                assertThrows(TypeConversionException.class, () -> new ClientOptions.Seconds().convert(text))
                        .getMessage());
    }
}
