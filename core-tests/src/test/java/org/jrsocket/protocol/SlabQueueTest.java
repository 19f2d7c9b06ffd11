/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SlabQueueTest {

    private static Slab slab() {
        return new Slab(0, 1, 0, 0);
    }

    @Test
    void shouldBehaveAsTheDequeOfTheJdk() {
        Random random = new Random(47);
        List<Slab> all = Stream.generate(SlabQueueTest::slab).limit(6).toList();
        SlabQueue queue = new SlabQueue();
        ArrayDeque<Slab> model = new ArrayDeque<>();
        for (int i = 0; i < 20_000; i++) {
            Slab slab = all.get(random.nextInt(all.size()));
            switch (random.nextInt(4)) {
                case 0, 1 -> {
                    if (!model.contains(slab)) {
                        queue.add(slab);
                        model.add(slab);
                    }
                }
                case 2 -> assertSame(model.poll(), queue.poll());
                default -> {
                    queue.remove(slab);
                    model.remove(slab);
                }
            }
            assertSame(model.peek(), queue.peek());
            assertSame(model.peekLast(), queue.peekLast());
            assertEquals(model.isEmpty(), queue.isEmpty());
            assertEquals(model.size() > 1, queue.hasSeveral());
        }
    }

    /** A connection that ends leaves what the next one begins with. */
    @Test
    void shouldNotRememberAnotherQueue() {
        Slab one = slab();
        SlabQueue ended = new SlabQueue();
        ended.add(one);
        ended.add(slab());
        SlabQueue next = new SlabQueue();
        next.add(one);
        assertSame(one, next.poll());
        assertNull(next.poll());
    }
}
