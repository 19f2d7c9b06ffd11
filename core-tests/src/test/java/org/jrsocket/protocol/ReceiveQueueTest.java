/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ReceiveQueueTest {

    /**
     * What a peer that keeps the rules can send before it has to hear from us: it grants all that it may, twice
     * credits, and ends in every way.
     */
    private static final int CONTROL = Inbound.MOST_GRANTS + 2 + 1 + 3;

    @Test
    void shouldHaveAReceiveForAllThatAPeerCanSendWithoutOurPolling() {
        for (int credits = 1; credits <= 100; credits++) {
            ReceiveQueue queue = new ReceiveQueue(credits);
            int receives = credits + ReceiveQueue.SPARE;
            for (int polled = 0; queue.toRepost() == 0 && polled < credits; polled++) {
                assertTrue(
                        receives - polled >= credits + CONTROL,
                        "credits " + credits + ", " + polled + " control messages taken: " + (receives - polled)
                                + " receives");
                queue.control();
            }
        }
        assertEquals(Inbound.SPARE_RECEIVES, ReceiveQueue.SPARE);
    }
}
