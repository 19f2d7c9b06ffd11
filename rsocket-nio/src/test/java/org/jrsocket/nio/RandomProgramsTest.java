/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.jrsocket.testkit.programs.RandomPrograms;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Programs of random calls of channels, selectors and keys, run on the JDK's and on ours. By
 * {@code org.jrsocket.test.programs} they are more, and by {@code org.jrsocket.test.seed} others.
 */
@Tag("transport")
class RandomProgramsTest {

    private static final int PROGRAMS = Integer.getInteger("org.jrsocket.test.programs", 25);
    private static final long SEED = Long.getLong("org.jrsocket.test.seed", 1);
    private static final int MOST_CALLS = 20;

    @Test
    @Timeout(3600)
    void shouldDoOverRdmaWhatTheJdksDo() throws Exception {
        NioKind kind = NioKind.loopback();
        compare(kind);
        kind.assertUsed(0);
        kind.close();
    }

    @Test
    @Timeout(3600)
    void shouldDoOverTcpWhatTheJdksDo() throws Exception {
        NioKind kind = NioKind.fallback();
        compare(kind);
        kind.assertUsed(0);
        kind.close();
    }

    static void compare(NioKind kind) throws Exception {
        assertTrue(PROGRAMS > 0, "nothing to compare");
        for (ChannelWorld.Beginning beginning : ChannelWorld.Beginning.values()) {
            RandomPrograms<ChannelWorld> programs = programs(kind, beginning);
            for (long seed = SEED; seed < SEED + PROGRAMS; seed++) {
                programs.compare(seed, 1 + new Random(~seed).nextInt(MOST_CALLS));
            }
        }
    }

    private static RandomPrograms<ChannelWorld> programs(NioKind kind, ChannelWorld.Beginning beginning) {
        NioKind jdk = NioKind.jdk(kind.address());
        RandomPrograms<ChannelWorld> programs =
                new RandomPrograms<>(() -> new ChannelWorld(jdk, beginning), () -> new ChannelWorld(kind, beginning));
        ChannelCalls.addTo(programs);
        SelectorCalls.addTo(programs);
        AdaptorCalls.addTo(programs);
        return programs;
    }
}
