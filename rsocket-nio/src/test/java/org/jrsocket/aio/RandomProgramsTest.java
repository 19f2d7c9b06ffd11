/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.channels.spi.AsynchronousChannelProvider;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.testkit.programs.RandomPrograms;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Asynchronous channels do what the JDK's do over TCP, whatever is called in whatever order. More programs, or others:
 * {@code -Dorg.jrsocket.test.programs=N}, {@code -Dorg.jrsocket.test.seed=S}.
 */
class RandomProgramsTest {

    private static final int PROGRAMS = Integer.getInteger("org.jrsocket.test.programs", 150);
    private static final long SEED = Long.getLong("org.jrsocket.test.seed", 0);
    private static final int SHORT = 6;
    private static final int LONG = 20;

    @Test
    @Timeout(3600)
    void shouldDoWhatTheJdkDoesOverRdma() throws Exception {
        compare(AioKind.loopback());
    }

    @Test
    @Timeout(3600)
    void shouldDoWhatTheJdkDoesWhenRefusedOverRdma() throws Exception {
        compare(AioKind.fallback());
    }

    static void compare(AioKind kind) throws Exception {
        AsynchronousChannelProvider jdk = AioKind.plainProvider();
        AtomicInteger expected = new AtomicInteger();
        AtomicInteger actual = new AtomicInteger();
        AioWorld.Pool[] pools = AioWorld.Pool.values();
        for (long seed = SEED; seed < SEED + PROGRAMS; seed++) {
            AioWorld.Pool pool = pools[(int) Math.floorMod(seed, (long) pools.length)];
            RandomPrograms<AioWorld> programs = new RandomPrograms<>(
                    () -> new AioWorld(null, jdk, kind.address(), pool, expected),
                    () -> new AioWorld(kind, kind.provider(), kind.address(), pool, actual));
            AioPrograms.into(programs);
            programs.compare(seed, seed % 3 == 0 ? LONG : SHORT);
        }
        assertTrue(expected.get() > 0 && actual.get() > 0, "nothing was ever read");
        kind.assertUsed();
        kind.close();
    }
}
