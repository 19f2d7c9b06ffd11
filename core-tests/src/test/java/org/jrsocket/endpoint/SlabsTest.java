/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.util.function.Predicate;
import org.jrsocket.HopelessError;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.Mr;
import org.jrsocket.verbs.Pd;
import org.jrsocket.verbs.Verbs;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SlabsTest {

    /** Its owner holds the stream's lock, and may not wait for the device: the end of the connection frees it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNotFreeASlabItselfWhereNoReaperCan(boolean lacksMemory) throws Exception {
        Verbs verbs = mock(Verbs.class);
        Mr mr = mock(Mr.class);
        Pd pd = mock(Pd.class);
        when(verbs.registerMr(any(), anyLong(), anyInt(), anyInt())).thenReturn(mr);
        Predicate<Runnable> none = task -> {
            if (lacksMemory) {
                throw new OutOfMemoryError("says a test");
            }
            return false;
        };
        MemoryBudget budget = new MemoryBudget();
        Slabs slabs = new Slabs(verbs, mock(Device.class), pd, budget, none);
        RegisteredSlab slab = slabs.register(8192, 8192, true);
        long used = budget.used();
        HopelessError.ensureNone(() -> slabs.release(slab));
        verify(verbs, never()).deregisterMr(mr);
        assertEquals(used, budget.used());
        slabs.freeGrown();
        verify(verbs).deregisterMr(mr);
        assertEquals(0, budget.used());
    }
}
