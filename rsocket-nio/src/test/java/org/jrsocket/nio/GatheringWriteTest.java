/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** A gathering write is one write: its small buffers do not become messages of their own. */
class GatheringWriteTest extends LoopbackChannelTests {

    @Test
    void shouldSendManySmallBuffersTogether() throws Exception {
        Pair pair = pair();
        Queue<Integer> messages = new ConcurrentLinkedQueue<>(); // with data, and nobody but the client sends any
        kind.verbs.onMessage((from, to, opcode, imm, length, remoteAddress, rkey) -> {
            if (length > 0) {
                messages.add(length);
            }
        });
        ByteBuffer[] small = new ByteBuffer[200];
        Arrays.setAll(small, i -> bytes(10));
        assertEquals(2000, pair.client().write(small));
        assertEquals(2000, read(pair.server(), 2000).length());
        assertTrue(messages.size() < 4, messages::toString);
        assertEquals(2000, messages.stream().mapToInt(Integer::intValue).sum());
    }

    @Test
    void shouldWriteMoreThanFitsAndEmptyBuffersToo() throws Exception {
        Pair pair = pair();
        ByteBuffer[] mixed = new ByteBuffer[60];
        Arrays.setAll(mixed, i -> bytes(i % 3 == 0 ? 0 : i * 1000));
        long size = Arrays.stream(mixed).mapToLong(ByteBuffer::remaining).sum();
        var writing = background(() -> pair.client().write(mixed));
        ByteBuffer target = ByteBuffer.allocate((int) size);
        while (target.hasRemaining() && pair.server().read(target) >= 0) {
            // more to come
        }
        assertEquals(size, get(writing));
        target.flip();
        for (ByteBuffer one : mixed) {
            one.rewind();
            assertEquals(one, target.slice(target.position(), one.remaining()));
            target.position(target.position() + one.remaining());
        }
    }
}
