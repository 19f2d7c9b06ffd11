/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class GrantTest {

    @Test
    void shouldWriteTheGrantsOfTheWorkedExample() {
        for (ByteOrder order : new ByteOrder[] {ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN}) {
            ByteBuffer table = ByteBuffer.allocate(32).order(order);
            Grant.put(table, 0, false, 0x7f1000110000L, 0xa02, 65536);
            Grant.put(table, 16, false, 0x7f2000110000L, 0xb02, 65536);
            assertEquals(
                    "00001100107f0000" + "020a0000" + "00000100", HexFormat.of().formatHex(table.array(), 0, 16));
            assertEquals(
                    "00001100207f0000" + "020b0000" + "00000100", HexFormat.of().formatHex(table.array(), 16, 32));
        }
    }

    @Test
    void shouldWriteBigEndianForABigEndianReader() {
        ByteBuffer table = ByteBuffer.allocate(16);
        Grant.put(table, 0, true, 0x7f1000110000L, 0xa02, 65536);
        assertEquals(
                "00007f1000110000" + "00000a02" + "00010000", HexFormat.of().formatHex(table.array()));
    }

    @Test
    void shouldReadWhatItWroteInAnyCombinationOfOrders() {
        SplittableRandom random = new SplittableRandom(3);
        for (ByteOrder order : new ByteOrder[] {ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN}) {
            ByteBuffer table = ByteBuffer.allocateDirect(64).order(order);
            for (boolean bigEndian : new boolean[] {true, false}) {
                for (int i = 0; i < 1000; i++) {
                    int at = random.nextInt(49);
                    long address = random.nextLong();
                    int key = random.nextInt();
                    int length = random.nextInt();
                    Grant.put(table, at, bigEndian, address, key, length);
                    assertEquals(address, Grant.address(table, at, bigEndian));
                    assertEquals(key, Grant.key(table, at, bigEndian));
                    assertEquals(length, Grant.length(table, at, bigEndian));
                    assertEquals(Integer.reverseBytes(key), Grant.key(table, at, !bigEndian));
                    Grant.clear(table, at);
                    assertEquals(0, Grant.length(table, at, bigEndian));
                    assertEquals(address, Grant.address(table, at, bigEndian));
                }
            }
            assertEquals(0, table.position());
        }
    }

    @Test
    void shouldRefuseAreasThatCannotExist() {
        assertTrue(Grant.isSound(0x7f1000110000L, 65536));
        assertTrue(Grant.isSound(0, 0));
        assertTrue(Grant.isSound(-1, 0));
        assertTrue(Grant.isSound(-65537, 65536));
        assertFalse(Grant.isSound(-65536, 65536));
        assertFalse(Grant.isSound(0x7f1000110000L, -1));
        assertFalse(Grant.isSound(0, -1));
        assertFalse(Grant.isSound(-1, Integer.MAX_VALUE));
        assertTrue(Grant.isSound(Long.MAX_VALUE, Integer.MAX_VALUE));
    }

    @Test
    void shouldCarryTheMessageWordInHostOrder() {
        for (ByteOrder order : new ByteOrder[] {ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN}) {
            ByteBuffer word = ByteBuffer.allocate(12).order(order);
            MessageWord.put(word, 5, 0x80000180);
            assertEquals(0x80000180, MessageWord.get(word, 5));
            assertEquals(
                    Grant.BIG_ENDIAN_HOST ? "80000180" : "80010080",
                    HexFormat.of().formatHex(word.array(), 5, 9));
        }
    }
}
