/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ImmTest {

    @Test
    void shouldMakeTheImmediatesOfTheWorkedExample() {
        assertEquals(0x00000005, Imm.data(5));
        assertEquals(0x80000180, Imm.sgl(384));
        assertEquals(0x80000188, Imm.sgl(8 + 384));
        assertEquals(0x000007fb, Imm.data(2043));
        assertEquals(0x00009005, Imm.data(36869));
        assertEquals(0xe0000002, Imm.ctrl(Imm.CTRL_SHUTDOWN));
        assertEquals(0xe0000000, Imm.ctrl(Imm.CTRL_DISCONNECT));
        assertEquals(0xe0000003, Imm.ctrl(Imm.CTRL_RESET));
    }

    @Test
    void shouldRefuseDataOfNoBytesAndOfMoreThanFit() {
        assertThrows(IllegalArgumentException.class, () -> Imm.data(0));
        assertThrows(IllegalArgumentException.class, () -> Imm.data(-1));
        assertThrows(IllegalArgumentException.class, () -> Imm.data(1 << 29));
        assertEquals(0x1fffffff, Imm.data(Imm.MAX_DATA));
        assertThrows(IllegalArgumentException.class, () -> Imm.ctrl(-1));
        assertThrows(IllegalArgumentException.class, () -> Imm.ctrl(1 << 29));
    }

    @Test
    void shouldCutACreditLimitToSixteenBitsBothWays() {
        assertEquals(0x800000f8, Imm.sgl(0x100f8));
        assertEquals(0xf8, Imm.limit(0x800100f8)); // as seen from C
        assertEquals(65535, Imm.limit(Imm.sgl(65535)));
        assertEquals(0, Imm.limit(Imm.sgl(65536)));
    }

    @Test
    void shouldTakeEveryImmediateApart() {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 100_000; i++) {
            int imm = random.nextInt();
            assertEquals(imm, Imm.op(imm) << 29 | Imm.value(imm));
            assertTrue(Imm.op(imm) >= 0 && Imm.op(imm) < 8);
            int n = 1 + random.nextInt(Imm.MAX_DATA);
            assertEquals(Imm.OP_DATA, Imm.op(Imm.data(n)));
            assertEquals(n, Imm.value(Imm.data(n)));
            assertEquals(Imm.OP_SGL, Imm.op(Imm.sgl(imm)));
            assertEquals(imm & 0xffff, Imm.limit(Imm.sgl(imm)));
            assertEquals(Imm.OP_CTRL, Imm.op(Imm.ctrl(n)));
            assertEquals(n, Imm.value(Imm.ctrl(n)));
        }
    }

    @Test
    void shouldCarryTheCountOfGrantsInARelease() {
        for (int grants : new int[] {0, 1, 255, 256, 65535}) {
            int imm = Imm.release(grants);
            assertEquals(Imm.OP_CTRL, Imm.op(imm));
            assertEquals(Imm.CTRL_RELEASE, Imm.code(imm));
            assertEquals(grants, Imm.grants(imm));
        }
        assertEquals(Imm.CTRL_RESET, Imm.code(Imm.ctrl(Imm.CTRL_RESET)));
        assertEquals(0x103, Imm.code(Imm.ctrl(0x103)), "only a release has a count");
    }

    @Test
    void shouldDescribeEveryKindOfMessage() {
        assertEquals("DATA 5", Imm.describe(5));
        assertEquals("SGL 248", Imm.describe(0x800100f8));
        assertEquals("IOMAP_SGL 7", Imm.describe(0xc0000007));
        assertEquals("CTRL DISCONNECT", Imm.describe(0xe0000000));
        assertEquals("CTRL KEEPALIVE", Imm.describe(0xe0000001));
        assertEquals("CTRL SHUTDOWN", Imm.describe(0xe0000002));
        assertEquals("CTRL RESET", Imm.describe(0xe0000003));
        assertEquals("CTRL RELEASE 65535", Imm.describe(Imm.release(-1)));
        assertEquals("CTRL 5", Imm.describe(0xe0000005));
        assertEquals("reserved op 1 value 9", Imm.describe(0x20000009));
        assertFalse(Imm.describe(0xa0000000).isEmpty());
    }
}
