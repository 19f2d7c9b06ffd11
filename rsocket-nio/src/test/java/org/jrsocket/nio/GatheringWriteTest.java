/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** A gathering write is one write: its small buffers do not become messages of their own. */
class GatheringWriteTest extends LoopbackChannelTests {

    @Test
    void shouldSendManySmallBuffersTogether() throws Exception {
        Pair pair = pair();
        pause(20); // the ends' first grants
        ByteBuffer[] small = new ByteBuffer[200];
        Arrays.setAll(small, i -> bytes(10));
        long before = kind.verbs.messageCount();
        assertEquals(2000, pair.client().write(small));
        assertEquals(2000, read(pair.server(), 2000).length());
        long messages = kind.verbs.messageCount() - before;
        assertTrue(messages >= 1 && messages < 4, () -> messages + " messages");
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
