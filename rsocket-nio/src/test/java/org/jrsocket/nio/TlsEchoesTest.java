/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TlsEchoesTest {

    @Test
    void shouldLeaveAllSettingsOfAnyTwoFlags() {
        int[] kept = IntStream.range(0, 32).filter(TlsEchoes::isKept).toArray();
        assertEquals(8, kept.length);
        for (int i = 0; i < 5; i++) {
            for (int j = 0; j < i; j++) {
                int one = i;
                int other = j;
                Set<Integer> together = IntStream.of(kept)
                        .mapToObj(flags -> (flags >> one & 1) << 1 | flags >> other & 1)
                        .collect(Collectors.toSet());
                assertEquals(4, together.size(), "flags " + i + " and " + j);
            }
        }
    }

    @Test
    void shouldLeaveBothSettingsOfEachFlagInHalfOfThem() {
        int[] kept = IntStream.range(0, 32)
                .filter(TlsEchoes::isKept)
                .filter(TlsEchoes::isOfHalf)
                .toArray();
        assertEquals(4, kept.length);
        for (int i = 0; i < 5; i++) {
            int flag = i;
            assertEquals(
                    2,
                    IntStream.of(kept).filter(flags -> (flags >> flag & 1) != 0).count(),
                    "flag " + i);
        }
    }
}
