/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ChunkTableTest {

    private final ChunkTable<Chunk> table = new ChunkTable<>();
    private final List<Chunk> chunks = new ArrayList<>();

    private Chunk chunk() {
        Chunk chunk = new Chunk(null, 256, 1, new LongAdder());
        chunks.add(chunk);
        return chunk;
    }

    @AfterEach
    void free() {
        chunks.forEach(Chunk::retire);
    }

    @Test
    void shouldFindWhatASortedMapFinds() {
        Random random = new Random(4);
        TreeMap<Long, Chunk> model = new TreeMap<>();
        for (int i = 0; i < 20; i++) {
            chunk();
        }
        for (int i = 0; i < 50_000; i++) {
            long address = 10L * (1 + random.nextInt(i < 25_000 ? 50 : 5000));
            if (model.containsKey(address)) {
                model.remove(address);
                table.remove(address);
            } else {
                Chunk chunk = chunks.get(random.nextInt(chunks.size()));
                model.put(address, chunk);
                table.add(address, chunk);
            }
            long asked = 10L * random.nextInt(5010) + random.nextInt(10); // each chunk has ten addresses
            Map.Entry<Long, Chunk> before = model.floorEntry(asked);
            boolean within = before != null && asked - before.getKey() < 10;
            Chunk found = table.floor(asked);
            assertTrue(within ? found == before.getValue() : found == null || model.containsValue(found));
        }
    }

    /** Else a chunk could not be freed when memory is short. */
    @Test
    void shouldNeedNoMemoryToRemoveAChunk() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        for (int i = 0; i < 1000; i++) {
            table.add(i, chunk());
        }
        long thread = Thread.currentThread().getId();
        long before = threads.getThreadAllocatedBytes(thread);
        for (int i = 0; i < 1000; i++) {
            table.remove(i);
        }
        long allocated = threads.getThreadAllocatedBytes(thread) - before;
        assertTrue(allocated < 1000, () -> allocated + " bytes");
    }

    @Test
    void shouldFindAChunkWhileOthersComeAndGo() throws Exception {
        Chunk staying = chunk();
        Chunk other = chunk();
        table.add(1000, staying);
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                long below = 10L + i;
                long above = 2000L - i;
                all.add(threads.submit(() -> {
                    for (int round = 0; round < 20_000; round++) {
                        table.add(below, other);
                        table.add(above, other);
                        assertSame(staying, table.floor(1000));
                        assertSame(staying, table.floor(1900));
                        assertSame(other, table.floor(above));
                        table.remove(below);
                        table.remove(above);
                    }
                }));
            }
            for (Future<?> each : all) {
                each.get(ChannelTests.PATIENCE, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
            assertTrue(threads.awaitTermination(ChannelTests.PATIENCE, TimeUnit.SECONDS));
        }
        assertNull(table.floor(999));
        table.remove(1000);
        assertNull(table.floor(Long.MAX_VALUE));
    }
}
