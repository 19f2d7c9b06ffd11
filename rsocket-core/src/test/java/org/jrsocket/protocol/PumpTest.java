/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Test;

class PumpTest {

    private static final int CREDITS = 16;

    @Test
    void shouldTellWhatCameWhileLeaving() {
        FakeQueues queues = new FakeQueues();
        ConnData peer = ConnData.local(CREDITS, 0x1000, 1, 2, 0x2000, 2, 4); // grants 4 bytes
        Slab first = new Slab(0x3000, 64, 3, 4);
        Connection connection = new Connection(
                new Inbound(peer, 2, CREDITS, first, 128),
                new Outbound(new Outbound.Limits(32, 1, 2, 1024, 64, 4, 64), peer, 2, CREDITS),
                new SendMemory(new Slab(0x4000, 64, 5, 6), 64),
                new NoSlabs(),
                new NoTable());
        Pump pump = new Pump(connection, queues, 16);
        connection.writeRoom();
        connection.sendMemory().reserve();
        connection.wrote(10); // more than was granted
        pump.flush();
        assertTrue(connection.hasLeftover());

        queues.messages.add(Imm.data(5));
        int effects = pump.leave();

        assertEquals(5, connection.in().readable());
        assertTrue(Effects.has(effects, Effects.READABLE), "a reader that sleeps would not be told");
    }

    private static final class FakeQueues implements Queues {
        private final ArrayDeque<Integer> messages = new ArrayDeque<>();
        private int current;

        @Override
        public int pollReceives() {
            if (messages.isEmpty()) {
                return 0;
            }
            current = messages.remove();
            return 1;
        }

        @Override
        public int batch() {
            return 1;
        }

        @Override
        public boolean isReceived(int index) {
            return true;
        }

        @Override
        public boolean isMessage(int index) {
            return true;
        }

        @Override
        public int imm(int index) {
            return current;
        }

        @Override
        public int length(int index) {
            return Imm.value(current);
        }

        @Override
        public int pollSends() {
            return 0;
        }

        @Override
        public boolean isSent(int index) {
            return true;
        }

        @Override
        public boolean postReceives(int count) {
            return true;
        }

        @Override
        public boolean post() {
            return true;
        }

        @Override
        public void arm() {}

        @Override
        public int room() {
            return 16;
        }

        @Override
        public void data(int imm, long remoteAddress, int remoteKey, boolean inline, boolean signaled) {}

        @Override
        public void piece(long address, int length, int localKey) {}

        @Override
        public void grant(int imm, long tableAddress, int tableKey, Slab granted, boolean signaled) {}

        @Override
        public void control(int imm, boolean signaled) {}

        @Override
        public void probe() {}
    }

    private static final class NoSlabs implements SlabSource {
        @Override
        public Slab obtain(int bytes, boolean remote) {
            return null;
        }

        @Override
        public void release(Slab slab) {}
    }

    private static final class NoTable implements GrantTable {
        @Override
        public int length(int entry) {
            return 0;
        }

        @Override
        public long address(int entry) {
            return 0;
        }

        @Override
        public int key(int entry) {
            return 0;
        }

        @Override
        public void clear(int entry) {}
    }
}
