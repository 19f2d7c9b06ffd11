/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.programs;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;

/** What programs send each other: bytes that follow from a seed, and what they add up to. */
final class Payload {

    private Payload() {}

    static byte[] bytes(long seed, int length) {
        byte[] bytes = new byte[length];
        new SplittableRandom(seed).nextBytes(bytes);
        return bytes;
    }

    /** One that the JVM has instructions for, in its interpreter too. */
    static String hash(byte[] bytes) {
        CRC32C sum = new CRC32C();
        sum.update(bytes);
        return told(sum, bytes.length);
    }

    /** Reads to the end, or {@code length} bytes. */
    static String hash(InputStream in, long length) {
        CRC32C sum = new CRC32C();
        byte[] part = new byte[16384];
        long left = length;
        try (in) {
            while (left > 0) {
                int n = in.read(part, 0, (int) Math.min(left, part.length));
                if (n < 0) {
                    break;
                }
                sum.update(part, 0, n);
                left -= n;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return told(sum, length - left);
    }

    private static String told(CRC32C sum, long length) {
        return String.format("%08x of %d", sum.getValue(), length);
    }

    /** Ends the program if they differ. */
    static void same(Object expected, Object actual, String what) {
        if (!expected.equals(actual)) {
            throw new IllegalStateException(what + ": " + actual + " is not " + expected);
        }
    }
}
