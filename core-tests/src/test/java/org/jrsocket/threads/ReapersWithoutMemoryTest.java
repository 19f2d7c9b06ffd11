/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.mockito.Mockito.mock;

import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.HopelessError;
import org.jrsocket.verbs.Device;
import org.junit.jupiter.api.Test;

/** What becomes of what is to be freed while memory is lacking. */
class ReapersWithoutMemoryTest {

    private final Device other = mock(Device.class);

    /** Nothing else refers to it any more. */
    @Test
    void shouldFreeInPlaceWhatNoOtherThreadCanBeAskedToFree() {
        ServiceLoop poor = mock(ServiceLoop.class, call -> {
            throw new OutOfMemoryError("says a test");
        });
        DeviceThreads none = new DeviceThreads(
                "test",
                1,
                (name, task) -> {
                    throw new OutOfMemoryError("unable to create native thread: says a test");
                },
                System::nanoTime);
        AtomicInteger freed = new AtomicInteger();
        Reapers reapers = new Reapers(poor, none);
        HopelessError.ensureNone(() -> reapers.reap(other, freed::incrementAndGet));
        assertEquals(1, freed.get());
        boolean[] reaped = {true};
        HopelessError.ensureNone(() -> reaped[0] = reapers.handOver(other, freed::incrementAndGet));
        assertFalse(reaped[0], "whoever holds a lock is to know that nobody frees it");
        assertEquals(1, freed.get());
    }
}
