/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.jrsocket.os.MemlockLimit;
import org.jrsocket.stream.StreamConfig;
import org.junit.jupiter.api.Test;

class LockedMemoryTest {

    private static final List<String> UNPRIVILEGED = List.of("Name:\tjava", "CapEff:\t00000000a80425fb");
    private static final List<String> PRIVILEGED = List.of("CapEff:\t000001ffffffffff");

    private static String describe(String soft, List<String> status) {
        MemlockLimit limit = MemlockLimit.of(
                List.of(
                        "Max processes             62000                62000                processes ",
                        "Max locked memory         " + soft + "                8388608              bytes     "),
                status,
                "         0          0 4294967295");
        return LockedMemory.describe(limit, StreamConfig.DEFAULT);
    }

    @Test
    void shouldTellForHowManyConnectionsTheLimitIs() {
        assertEquals(
                "8192 KiB, for 256 idle connections of 32 KiB, or 1 that carry as much as they can (5152 KiB);"
                        + " more: ulimit -l, LimitMEMLOCK= (systemd), --ulimit memlock= (containers)",
                describe("8388608", UNPRIVILEGED));
        assertEquals(
                "64 KiB, for 2 idle connections of 32 KiB, or 0 that",
                describe("65536", UNPRIVILEGED).substring(0, 51));
    }

    @Test
    void shouldNotCallForMoreWhereThereIsNoLimit() {
        assertEquals("unlimited", describe("unlimited", UNPRIVILEGED));
        assertEquals("64 KiB, which does not limit this process (CAP_IPC_LOCK)", describe("65536", PRIVILEGED));
    }

    @Test
    void shouldNotFailWhereTheLineIsMissing() {
        assertEquals("unknown", LockedMemory.describe(MemlockLimit.of(List.of(), List.of(), ""), StreamConfig.DEFAULT));
    }
}
