/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SendQueueTest {

    /** A request that asked for a completion, which counts for those before it, too. */
    private record Mark(int slots, long offset, int grants) {}

    @ParameterizedTest
    @CsvSource({"8, 4", "8, 1", "64, 16", "100, 1000"})
    void shouldKnowWhatIsOnItsWayAndWhatACompletionStandsFor(int slots, int busy) {
        SendQueue queue = new SendQueue(slots, busy);
        Random random = new Random(7);
        ArrayDeque<Mark> marks = new ArrayDeque<>();
        int outstanding = 0;
        int unsignaled = 0;
        long offset = 0;
        int grants = 0;
        for (int i = 0; i < 10_000; i++) {
            int needed = 1 + random.nextInt(2);
            assertEquals(outstanding, queue.outstanding());
            assertEquals(outstanding + needed + 3 <= slots, queue.fits(needed, 3));
            assertEquals(!marks.isEmpty(), queue.awaitsCompletion());
            assertEquals(outstanding >= Math.min(busy, slots / 2), queue.isBusy());
            if (queue.isBusy()) {
                assertTrue(queue.awaitsCompletion(), "a writer would wait in vain");
            }
            boolean fills = i / 100 % 2 == 0 || random.nextInt(3) == 0;
            if (fills && queue.fits(needed, 0)) {
                boolean signaled = queue.wantsSignal(needed) || random.nextInt(10) == 0;
                offset += random.nextInt(1000);
                grants += random.nextInt(2);
                queue.posted(needed, offset, grants, signaled);
                outstanding += needed;
                unsignaled += needed;
                if (signaled) {
                    marks.add(new Mark(unsignaled, offset, grants));
                    unsignaled = 0;
                }
            } else if (!marks.isEmpty()) {
                Mark oldest = marks.remove();
                assertEquals(oldest.grants, queue.nextGrants());
                assertEquals(oldest.offset, queue.completed());
                outstanding -= oldest.slots;
            }
        }
    }

    /** Completions cost the device and us; one for every few requests is enough. */
    @Test
    void shouldAskForACompletionAtEveryEighthRequestOfAUsualQueue() {
        SendQueue queue = new SendQueue(64, 16);
        for (int i = 1; i <= 32; i++) {
            boolean signaled = queue.wantsSignal(1);
            assertEquals(i % 8 == 0, signaled);
            queue.posted(1, 0, 0, signaled);
        }
        assertTrue(queue.wantsSignal(8));
        assertFalse(queue.wantsSignal(7));
    }

    @Test
    void shouldRefuseWhatCannotBe() {
        assertThrows(IllegalArgumentException.class, () -> new SendQueue(7, 4));
        SendQueue queue = new SendQueue(8, 4);
        assertThrows(IllegalStateException.class, queue::completed);
        queue.posted(8, 0, 0, true);
        assertThrows(IllegalStateException.class, () -> queue.posted(1, 0, 0, false));
    }
}
