/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SampleSizeTest {

    private final SampleSize samples = new SampleSize();

    @Test
    void shouldTakeASecond() {
        samples.learn(Row.RTT_64, Row.RTT_64.secondsEach(Map.of("mean", 25.0)), 1);
        samples.learn(Row.BW_64K, Row.BW_64K.secondsEach(Map.of("rate", 131.072)), 1);
        assertEquals(40_000, samples.count(Row.RTT_64, false));
        assertEquals(2000, samples.count(Row.BW_64K, false));
    }

    @Test
    void shouldMakeWholeReads() {
        samples.learn(Row.BW_1K, 1, 30_001);
        assertEquals(30_000, samples.count(Row.BW_1K, false));
    }

    @Test
    void shouldLeaveRowsAloneThatAreNotSizedByTime() {
        samples.learn(Row.BUSY_64, 1, 10);
        assertEquals(Row.BUSY_64.count, samples.count(Row.BUSY_64, false));
    }

    @Test
    void shouldGoOnAfterAFirstLookThatFails() {
        String done = samples.lookAt(Stream.of(Row.RTT_64, Row.RTT_1K, Row.BUSY_64), (row, operations) -> {
            if (row == Row.RTT_64) {
                throw new IOException("no result");
            }
            return new Column.Sample(Map.of("mean", 50.0), operations);
        });
        assertEquals("C; a new pair of processes each time; rtt_64: no result", done);
        assertEquals(Row.RTT_64.count / 8, samples.count(Row.RTT_64, false));
        assertEquals(20_000, samples.count(Row.RTT_1K, false));
    }
}
