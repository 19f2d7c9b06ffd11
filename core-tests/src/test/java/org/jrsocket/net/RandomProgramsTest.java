/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jrsocket.testkit.programs.RandomPrograms;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Programs of random calls on our sockets, whose outcomes have to be those of the JDK's. With
 * {@code -Dorg.jrsocket.test.programs=N} and {@code -Dorg.jrsocket.test.seed=S} it runs others than in the build.
 */
class RandomProgramsTest {

    private static final int PROGRAMS = Integer.getInteger("org.jrsocket.test.programs", 150);
    private static final long SEED = Long.getLong("org.jrsocket.test.seed", 1);

    static RandomPrograms<NetWorld> programs(SocketKind kind) {
        RandomPrograms<NetWorld> programs =
                new RandomPrograms<>(() -> new NetWorld(SocketKind.INSTALLED), () -> new NetWorld(kind));
        DataSteps.addTo(programs);
        LifeSteps.addTo(programs);
        OptionSteps.addTo(programs);
        ConstructorSteps.addTo(programs);
        return programs;
    }

    static void compare(SocketKind kind) throws Exception {
        assertTrue(PROGRAMS > 0, "no program");
        RandomPrograms<NetWorld> programs = programs(kind);
        for (int i = 0; i < PROGRAMS; i++) {
            programs.compare(SEED + i, 1 + i % 40);
        }
    }

    @Test
    @ExtendWith(LoopbackTests.LeavesNothing.class)
    void shouldDoOverRdmaWhatTheJdkDoes() throws Exception {
        compare(LoopbackTests.KIND);
    }

    @Test
    void shouldDoOverTcpWhatTheJdkDoes() throws Exception {
        compare(TcpFallbackTests.KIND);
    }
}
