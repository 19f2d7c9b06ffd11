/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.programs;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.SplittableRandom;

/** What programs send each other: bytes that follow from a seed, and what they add up to. */
final class Payload {

    private Payload() {}

    static byte[] bytes(long seed, int length) {
        byte[] bytes = new byte[length];
        new SplittableRandom(seed).nextBytes(bytes);
        return bytes;
    }

    static String hash(byte[] bytes) {
        return HexFormat.of().formatHex(digest().digest(bytes));
    }

    /** Reads to the end, or {@code length} bytes. */
    static String hash(InputStream in, long length) {
        MessageDigest digest = digest();
        byte[] part = new byte[16384];
        try (DigestInputStream through = new DigestInputStream(in, digest)) {
            for (long left = length; left > 0; ) {
                int n = through.read(part, 0, (int) Math.min(left, part.length));
                if (n < 0) {
                    break;
                }
                left -= n;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    /** Ends the program if they differ. */
    static void same(Object expected, Object actual, String what) {
        if (!expected.equals(actual)) {
            throw new IllegalStateException(what + ": " + actual + " is not " + expected);
        }
    }

    private static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
