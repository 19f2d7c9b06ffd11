/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.SocketException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ResetNewsTest {

    private static final String RESET = "Connection reset by peer";

    private final SocketException failed = failed();

    private static SocketException failed() {
        SocketException e = new SocketException("Connection reset");
        e.addSuppressed(new StreamFailure("retries exceeded"));
        return e;
    }

    @Test
    void shouldGiveReadersTheEndOnceAWriterWasTold() {
        ResetNews news = new ResetNews();
        assertEquals(RESET, news.toWriter(failed));
        assertTrue(news.tellReader(failed));
        assertTrue(news.tellReader(failed));
        assertEquals("Broken pipe", news.toWriter(failed));
    }

    @Test
    void shouldFailAllReadsOnceAReaderWasTold() {
        ResetNews news = new ResetNews();
        assertFalse(news.tellReader(failed));
        assertEquals("Broken pipe", news.toWriter(failed));
        assertFalse(news.tellReader(failed));
    }

    /** The two meet before each connection, so that they ask within a few nanoseconds. */
    @Test
    @Timeout(60)
    void shouldTellOneOfAReaderAndAWriterWhoAskAtOnce() throws Exception {
        ResetNews[] connections = new ResetNews[3000];
        Arrays.setAll(connections, i -> new ResetNews());
        AtomicInteger reader = new AtomicInteger(-1);
        AtomicInteger writer = new AtomicInteger(-1);
        boolean[] writerWasFirst = new boolean[connections.length];
        Thread writing = new Thread(() -> {
            for (int i = 0; i < connections.length; i++) {
                meet(i, writer, reader);
                writerWasFirst[i] = connections[i].toWriter(failed).equals(RESET);
            }
        });
        writing.setDaemon(true);
        writing.start();
        boolean[] ended = new boolean[connections.length];
        for (int i = 0; i < connections.length; i++) {
            meet(i, reader, writer);
            for (int pause = i % 8; pause > 0; pause--) {
                Thread.onSpinWait();
            }
            ended[i] = connections[i].tellReader(failed);
        }
        writing.join();
        for (int i = 0; i < connections.length; i++) {
            assertEquals(writerWasFirst[i], ended[i], "connection " + i + ": both are told, or none");
            assertEquals(ended[i], connections[i].tellReader(failed), "the next read says something else");
        }
    }

    private static void meet(int at, AtomicInteger mine, AtomicInteger other) {
        mine.set(at);
        for (int spins = 0; other.get() < at; spins++) {
            if (spins < 1000) {
                Thread.onSpinWait();
            } else {
                Thread.yield(); // they may have one processor
            }
        }
    }
}
