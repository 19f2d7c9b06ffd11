/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Many streams polled together. */
class PollSetTest extends RawPeerTests {

    private static final StreamConfig QUIET = StreamConfig.DEFAULT.withSpinNanos(0);

    private StreamPair pair() throws IOException {
        return later(StreamPair.connect(transport, HERE, QUIET));
    }

    @Test
    void shouldTellForWhichStreamsMessagesHaveArrived() throws Exception {
        StreamPair[] pairs = {pair(), pair(), pair()};
        try (PollSet set = new PollSet(pairs[0].server, 4)) {
            for (StreamPair p : pairs) {
                RawPeer.await(() -> !p.server.core().queues.spin(0) || poll(p.server), () -> "the first grants");
                assertTrue(set.add(p.server, p));
            }
            assertEquals(0, set.look(0));
            pairs[1].client.write(bytes(10), 0, 10, PATIENCE);
            assertEquals(1, set.look(PATIENCE));
            assertSame(pairs[1], set.found(0));
            assertEquals(1, set.look(0), "a look takes nothing");
            assertEquals(10, read(pairs[1].server, 10).length);
            assertEquals(0, set.look(0));
        }
    }

    private static boolean poll(RdmaStream stream) {
        stream.poll();
        return false;
    }

    @Test
    void shouldTakeEachStreamOnceAndOnlyAsManyAsThereIsRoomFor() throws Exception {
        StreamPair p = pair();
        try (PollSet set = new PollSet(p.client, 1);
                PollSet other = new PollSet(p.client, 1)) {
            assertTrue(set.add(p.client, "a"));
            assertFalse(set.add(p.client, "a"));
            assertFalse(other.add(p.client, "a"), "it is in another one");
            assertFalse(set.add(p.server, "b"), "no room");
            other.remove(p.client); // not its own
            set.remove(p.client);
            assertTrue(other.add(p.client, "a"));
        }
        try (PollSet third = new PollSet(p.client, 1)) {
            assertTrue(third.add(p.client, "a"), "a set that is closed has let go of it");
        }
    }

    @Test
    void shouldForgetAStreamBeforeItIsFreed() throws Exception {
        StreamPair p = pair();
        StreamPair stays = pair();
        try (PollSet set = new PollSet(p.client, 2)) {
            assertTrue(set.add(p.client, "goes"));
            assertTrue(set.add(stays.client, "stays"));
            AtomicBoolean over = new AtomicBoolean();
            Future<?> looking = background(() -> {
                while (!over.get()) {
                    set.look(1000); // a queue that is destroyed in the meantime would be a violation of the verbs
                }
                return null;
            });
            p.client.abort();
            RawPeer.await(p.client::isFreed, () -> "not freed");
            over.set(true);
            get(looking);
            assertFalse(set.add(p.client, "freed"));
            stays.client.poll();
            stays.server.write(bytes(1), 0, 1, PATIENCE);
            assertEquals(1, set.look(PATIENCE));
            assertEquals("stays", set.found(0));
        }
    }
}
