/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** An asynchronous event as one number. */
class DeviceEventTest {

    @Test
    void shouldKeepTheTypeAndThePort() {
        int event = Device.event(Device.EVENT_PORT_ERR, 2);
        assertEquals(Device.EVENT_PORT_ERR, Device.eventType(event));
        assertEquals(2, Device.eventPort(event));
        assertFalse(Device.isOfQueue(event));
    }

    /** A negative number is no event. */
    @Test
    void shouldTakeTheNumberOfAQueuePairForNoPort() {
        int event = Device.event(Device.EVENT_QP_FATAL, 0xffffff);
        assertTrue(event >= 0);
        assertEquals(Device.EVENT_QP_FATAL, Device.eventType(event));
        assertEquals(0, Device.eventPort(event));
        assertTrue(Device.isOfQueue(event));
    }
}
