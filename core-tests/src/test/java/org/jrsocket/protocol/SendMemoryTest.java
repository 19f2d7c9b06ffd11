/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SendMemoryTest {

    private static final int SLAB = 8 * 1024;

    private final SendMemory memory = new SendMemory(new Slab(0, SLAB, 1, 2), 4 << 20);
    private long written;

    /** Fills the slab that is written to. */
    private void fill() {
        int n = memory.room();
        memory.reserve();
        written += n;
        assertTrue(memory.wrote(n, written));
    }

    @Test
    void shouldBeLargeEnoughForAStreamWithAQuarterOfAMebibyte() {
        long at = 1 << 20;
        fill();
        while (memory.isSmallForAStream()) {
            memory.add(new Slab(at, memory.wanted(), 1, 2));
            at += 1 << 20;
            while (memory.room() > 0) {
                fill();
            }
        }
        assertEquals(256 * 1024, memory.capacity());
        memory.acknowledged(written);
        assertEquals(0, memory.wanted());
    }

    private static long allocatedFor(int slabs) {
        SendMemory memory = new SendMemory(new Slab(0, 1, 1, 2), slabs + 1);
        Slab[] more = new Slab[slabs];
        Arrays.setAll(more, i -> new Slab(i + 1, 1, 1, 2));
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i <= slabs; i++) {
                if (memory.room() == 0) {
                    memory.add(more[i - 1]);
                }
                memory.reserve();
                memory.wrote(1, round * (slabs + 1L) + i + 1);
            }
            memory.acknowledged((round + 1) * (slabs + 1L));
        }
        return threads.getCurrentThreadAllocatedBytes() - before;
    }

    /** Where memory is lacking, a slab of which nobody knows would be waited for for ever. */
    @Test
    void shouldTakeNoMemoryToKeepSlabs() {
        long few = allocatedFor(4);
        few = Math.min(few, allocatedFor(4));
        assertTrue(allocatedFor(100) <= few + 64, "as much for many as for few: " + few);
    }

    /** An earlier connection had it. */
    @Test
    void shouldBeginWithAnEmptySlab() {
        Slab slab = new Slab(0, SLAB, 1, 2);
        SendMemory earlier = new SendMemory(slab, SLAB);
        earlier.reserve();
        earlier.wrote(SLAB - 1, SLAB - 1);
        assertEquals(SLAB, new SendMemory(slab, SLAB).room());
    }

    @Test
    void shouldHaveItsFirstSlabWhateverTheBound() {
        SendMemory bounded = new SendMemory(new Slab(0, SLAB, 1, 2), SLAB / 2);
        assertEquals(SLAB, bounded.totalRoom());
    }

    /** What was written and is not acknowledged. */
    private record Sent(long address, int length, long end) {
        boolean overlaps(long from, int bytes) {
            return from < address + length && address < from + bytes;
        }
    }

    /** Else the peer would get the bytes of a later write, or the memory would get lost bit by bit. */
    @Test
    void shouldHandOutAllThatIsAcknowledgedAndNothingElse() {
        for (int seed = 0; seed < 50; seed++) {
            Random random = new Random(seed);
            int most = SLAB + random.nextInt(20 * SLAB);
            handOut(new SendMemory(new Slab(0, SLAB, 0, 0), most), most, random);
        }
    }

    private static void handOut(SendMemory memory, int most, Random random) {
        ArrayDeque<Sent> sent = new ArrayDeque<>();
        Map<Integer, Integer> slabs = new HashMap<>(Map.of(0, SLAB)); // by key
        int keys = 1;
        long written = 0;
        long acknowledged = 0;
        for (int i = 0; i < 2000; i++) {
            long inUse = sent.stream().mapToInt(Sent::length).sum();
            assertTrue(memory.totalRoom() <= most - inUse);
            assertEquals(slabs.values().stream().mapToInt(n -> n).sum(), memory.capacity());
            if (memory.room() == 0) {
                assertEquals(Math.min(memory.capacity(), most - memory.capacity()), memory.wanted());
            } else {
                assertEquals(0, memory.wanted());
            }
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> {
                    if (memory.room() > 0) {
                        int n = random.nextInt(4) == 0 ? memory.room() : 1 + random.nextInt(memory.room());
                        long at = memory.reserve();
                        assertEquals(at, memory.next());
                        assertEquals(at, memory.slab().address() + memory.filled());
                        assertTrue(memory.filled() + n <= slabs.get(memory.localKey()));
                        assertTrue(sent.stream().noneMatch(each -> each.overlaps(at, n)), "handed out too early");
                        if (random.nextBoolean()) { // another thread hears of it while the writer copies
                            acknowledged = written;
                            memory.acknowledged(acknowledged);
                            sent.clear();
                            assertNull(memory.takeSurplus());
                            assertEquals(at, memory.next(), "the place belongs to the writer");
                        }
                        int taken = random.nextInt(10) == 0 ? 0 : n;
                        int room = memory.room();
                        boolean all = taken > 0
                                && memory.filled() + taken == memory.slab().length();
                        written += taken;
                        assertEquals(all, memory.wrote(taken, written));
                        assertTrue(all || memory.room() == room - taken, "the rest of a slab is lost");
                        if (taken > 0) {
                            sent.add(new Sent(at, taken, written));
                        }
                    }
                }
                case 3 -> {
                    if (memory.wanted() > 0) {
                        slabs.put(keys, memory.wanted());
                        memory.add(new Slab((long) keys << 32, memory.wanted(), keys, 0));
                        keys++;
                    }
                }
                case 4, 5 -> {
                    acknowledged += (long) ((written - acknowledged) * random.nextDouble());
                    memory.acknowledged(acknowledged);
                }
                case 6 -> {
                    acknowledged = written;
                    memory.acknowledged(acknowledged);
                    assertEquals(most, memory.totalRoom(), "some is lost");
                    assertEquals(0, memory.filled(), "it does not begin anew");
                }
                default -> {
                    Slab surplus = memory.takeSurplus();
                    boolean quiet = acknowledged == written;
                    if (surplus != null) {
                        assertTrue(quiet, "given up too early");
                        assertTrue(surplus.address() > 0, "the first one is never given up");
                        slabs.remove(surplus.localKey());
                    } else if (quiet && memory.filled() == 0) {
                        assertEquals(Set.of(0), slabs.keySet());
                    }
                }
            }
            long known = acknowledged;
            sent.removeIf(each -> each.end <= known);
        }
    }
}
