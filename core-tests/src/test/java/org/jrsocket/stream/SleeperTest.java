/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.SocketException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SleeperTest {

    private static final int NO_DESCRIPTOR = 1 << 28;

    /** Else its owner would try again and again, as fast as it can. */
    @Test
    void shouldSayWhenItCannotSleep() throws IOException {
        Sleeper sleeper = Sleeper.acquire();
        try {
            SocketException e = assertThrows(SocketException.class, () -> sleeper.sleep(NO_DESCRIPTOR, 1_000_000_000));
            assertTrue(
                    e.getMessage().startsWith("waiting for the events of an RDMA connection failed"), e.getMessage());
        } finally {
            sleeper.release();
        }
    }

    @Test
    void shouldSleepNoLongerThanItIsTold() throws IOException {
        Sleeper sleeper = Sleeper.acquire();
        sleeper.sleep(-1, 1_000_000);
        sleeper.wake();
        sleeper.sleep(-1, -1);
        sleeper.release();
    }
}
