/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.jrsocket.verbs.WcBatch;
import org.junit.jupiter.api.Test;

class VerbsQueuesTest {

    @Test
    void shouldNameTheStatusOfACompletion() {
        assertEquals("IBV_WC_LOC_PROT_ERR (4)", VerbsQueues.name(4));
        assertEquals("IBV_WC_RETRY_EXC_ERR (12)", VerbsQueues.name(WcBatch.RETRY_EXCEEDED));
        assertEquals("work completion status 99", VerbsQueues.name(99));
    }
}
