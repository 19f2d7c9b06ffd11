/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Hostile connection data: whatever arrives, {@link ConnData#parse} gives sane values or a {@link WireException}. */
@Tag("once")
@Tag("slow")
class ConnDataFuzzTest {

    private static final int BLOBS = 400_000;
    private static final long SEED = 20261120L;
    private static final long[] NASTY = {
        0,
        1,
        2,
        16,
        40,
        127,
        128,
        255,
        1024,
        1025,
        65535,
        65536,
        Integer.MAX_VALUE,
        1L << 31,
        0xffffffffL,
        -1,
        Long.MIN_VALUE,
        Long.MAX_VALUE,
        -32,
        -33
    };
    private static final int[][] FIELDS = {
        {0, 1}, {1, 1}, {2, 2}, {4, 1}, {7, 1}, {8, 8}, {16, 4}, {20, 4}, {24, 8}, {32, 4}, {36, 4}, {40, 4}, {44, 1},
        {45, 1}, {46, 2}, {48, 4}, {52, 4}
    };

    @Test
    void shouldMakeConnDataOrAWireExceptionOfAnyBytes() {
        SplittableRandom random = new SplittableRandom(SEED);
        int accepted = 0;
        int extended = 0;
        for (int i = 0; i < BLOBS; i++) {
            byte[] blob = blob(random);
            try {
                ConnData data = ConnData.parse(blob);
                assertSane(data, blob);
                accepted++;
                extended += data.hasExtension() ? 1 : 0;
            } catch (WireException e) {
                assertTrue(e.getMessage().matches("rsocket: [a-z_. ]+ is .+; .+"), e.getMessage());
            } catch (RuntimeException e) {
                fail("seed " + SEED + " blob " + i + ": " + Arrays.toString(blob), e);
            }
        }
        // Otherwise the generator would test one branch only.
        assertTrue(accepted > BLOBS / 20 && accepted < BLOBS * 19 / 20, accepted + " of " + BLOBS + " accepted");
        assertTrue(extended > BLOBS / 100, extended + " with extension");
    }

    @Test
    void shouldReadBackWhatItWrote() throws WireException {
        SplittableRandom random = new SplittableRandom(SEED + 1);
        for (int i = 0; i < 50_000; i++) {
            ConnData sent = random(random);
            byte[] padded = Arrays.copyOf(sent.encode(), random.nextBoolean() ? 56 : 196);
            assertEquals(sent, ConnData.parse(padded));
        }
    }

    private static void assertSane(ConnData data, byte[] blob) {
        boolean sane = data.version() == 1
                && data.credits() >= 1
                && data.credits() <= 65535
                && data.targetLength() >= 2
                && data.targetLength() <= 1024
                && data.dataLength() >= 0
                && data.iomapSize() >= 0
                && Long.compareUnsigned(data.targetAddr(), -16L * data.targetLength()) < 0
                && (data.dataLength() == 0 || Long.compareUnsigned(data.dataAddr(), -(long) data.dataLength()) < 0)
                && (data.hasExtension() || data.features() == 0);
        if (!sane) {
            fail(data + " of " + Arrays.toString(blob));
        }
        data.encode(); // what was accepted can be sent
    }

    private static ConnData random(SplittableRandom random) {
        int flags = random.nextInt(4);
        int iomap = (flags & ConnData.IOMAP) == 0
                ? 0
                : random.nextBoolean() ? random.nextInt(129) : random.nextInt(128) << 8;
        boolean extension = random.nextBoolean();
        return new ConnData(
                1,
                flags,
                1 + random.nextInt(65535),
                iomap,
                random.nextLong() >>> 1,
                random.nextInt(),
                2 + random.nextInt(1023),
                random.nextLong() >>> 1,
                random.nextInt(),
                random.nextInt() >>> 1,
                extension,
                extension ? random.nextInt(65536) : 0);
    }

    /** A valid block with a few fields, bits or its length changed; sometimes noise. */
    private static byte[] blob(SplittableRandom random) {
        if (random.nextInt(16) == 0) {
            byte[] noise = new byte[random.nextInt(260)];
            random.nextBytes(noise);
            return noise;
        }
        byte[] blob = Arrays.copyOf(random(random).encode(), random.nextBoolean() ? 56 : 196);
        ByteBuffer fields = ByteBuffer.wrap(blob);
        for (int changes = random.nextInt(4); changes > 0; changes--) {
            int[] field = FIELDS[random.nextInt(FIELDS.length)];
            long value = random.nextBoolean() ? NASTY[random.nextInt(NASTY.length)] : random.nextLong();
            switch (field[1]) {
                case 1 -> fields.put(field[0], (byte) value);
                case 2 -> fields.putShort(field[0], (short) value);
                case 4 -> fields.putInt(field[0], (int) value);
                default -> fields.putLong(field[0], value);
            }
        }
        for (int flips = random.nextInt(8) - 5; flips > 0; flips--) {
            int bit = random.nextInt(blob.length * 8);
            blob[bit / 8] ^= (byte) (1 << bit % 8);
        }
        return random.nextInt(8) == 0 ? Arrays.copyOf(blob, random.nextInt(blob.length + 1)) : blob;
    }
}
