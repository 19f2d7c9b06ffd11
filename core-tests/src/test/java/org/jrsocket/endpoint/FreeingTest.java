/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** What is freed one by one, whatever fails. */
class FreeingTest {

    @Test
    void shouldSayWhetherACallSucceeded() {
        assertTrue(Freeing.attempt("a call", null, (first, second) -> {}, null, null));
        assertFalse(Freeing.attempt("a call", null, FreeingTest::fail, new IOException("as the test wants"), null));
    }

    private static void fail(Exception why, Object none) throws IOException {
        throw why instanceof IOException e ? e : new IOException(why);
    }

    /** HotSpot throws the same error again and again when there is no memory for another one. */
    @Test
    void shouldLeaveTheRestToItsCallerThoughALoggerFailsAsTheCallDid() {
        OutOfMemoryError lack = new OutOfMemoryError("as the test wants");
        AtomicBoolean said = new AtomicBoolean();
        PrintStream before = System.err;
        System.setErr(new PrintStream(
                new OutputStream() {
                    @Override
                    public void write(int b) {
                        said.set(true);
                        throw lack;
                    }
                },
                true,
                StandardCharsets.UTF_8));
        try {
            assertFalse(Freeing.attempt(
                    "a call",
                    null,
                    (first, second) -> {
                        throw first;
                    },
                    lack,
                    null));
        } finally {
            System.setErr(before);
        }
        assertTrue(said.get());
    }
}
