/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** What is known of the libraries of devices, by the vendor's number. */
class RdmaCoreDeviceTest {

    private static final int MELLANOX = 0x02c9;

    @Test
    void shouldKeepNoQueuesOfQedr() {
        assertFalse(RdmaCoreDevice.queuesOutliveQp(0x1077));
        assertTrue(RdmaCoreDevice.queuesOutliveQp(MELLANOX));
    }

    @Test
    void shouldAskManaForNothingInline() {
        assertEquals(0, RdmaCoreDevice.mostInline(0x1414));
        assertEquals(Integer.MAX_VALUE, RdmaCoreDevice.mostInline(MELLANOX));
    }
}
