/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class LimitedLogTest {

    private long now = Long.MAX_VALUE - 10; // a clock that overflows meanwhile is no reason to fall silent
    private final LimitedLog log = new LimitedLog(LoggerFactory.getLogger(LimitedLogTest.class), 100, () -> now);

    private List<String> warn(int times) throws Exception {
        return RawPeerTests.warningsIn(() -> {
            for (int i = 0; i < times; i++) {
                log.warn("{} sent nonsense of kind {}", "somebody", i);
            }
        });
    }

    @Test
    void shouldLetOneLineThroughPerInterval() throws Exception {
        List<String> lines = warn(1000);
        assertEquals(1, lines.size(), lines.toString());
        assertTrue(lines.get(0).endsWith("somebody sent nonsense of kind 0"), lines.toString());
        now += 99;
        assertEquals(List.of(), warn(1));
    }

    @Test
    void shouldSayHowManyWereLeftOut() throws Exception {
        warn(1000);
        now += 100;
        List<String> lines = warn(2);
        assertEquals(1, lines.size(), lines.toString());
        assertTrue(lines.get(0).endsWith("kind 0 (999 more of this kind suppressed before it)"), lines.toString());
        now += 200;
        assertTrue(warn(1).get(0).contains("(1 more "));
        now += 200;
        assertTrue(warn(1).get(0).endsWith("kind 0"));
    }

    @Test
    void shouldLetTheFirstLineThroughWhateverTheClockSays() throws Exception {
        now = 0;
        assertEquals(1, warn(1).size());
    }
}
