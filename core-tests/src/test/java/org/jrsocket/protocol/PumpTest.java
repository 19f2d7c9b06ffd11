/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Test;

class PumpTest {

    private static final int CREDITS = 16;

    @Test
    void shouldTellWhatCameWhileLeaving() {
        Queues queues = mock();
        when(queues.post()).thenReturn(true);
        when(queues.postReceives(anyInt())).thenReturn(true);
        when(queues.room()).thenReturn(16);
        when(queues.batch()).thenReturn(1);
        ConnData peer = ConnData.local(CREDITS, 0x1000, 1, 2, 0x2000, 2, 4); // grants 4 bytes
        Slab first = new Slab(0x3000, 64, 3, 4);
        Connection connection = new Connection(
                new Inbound(peer, 2, CREDITS, first, 128),
                new Outbound(new SendLimits(32, 1, 2, 1024, 64, 4, 64), peer, 2, CREDITS),
                new SendMemory(new Slab(0x4000, 64, 5, 6), 64),
                mock(),
                mock());
        Pump pump = new Pump(connection, queues, 16);
        connection.writeRoom();
        connection.sendMemory().reserve();
        connection.wrote(10); // more than was granted
        pump.flush();
        assertTrue(connection.hasLeftover());

        when(queues.pollReceives()).thenReturn(1, 0);
        when(queues.isReceived(0)).thenReturn(true);
        when(queues.isMessage(0)).thenReturn(true);
        when(queues.imm(0)).thenReturn(Imm.data(5));
        when(queues.length(0)).thenReturn(5);
        int effects = pump.leave();

        assertEquals(5, connection.in().readable());
        assertTrue(Effects.has(effects, Effects.READABLE), "a reader that sleeps would not be told");
    }
}
