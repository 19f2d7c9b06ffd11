/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.util.ResourceLeakDetector;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Buffers that nobody refers to and nobody has released, found by Netty's own detector, which looks at each one. */
final class Leaks {

    private final Queue<String> found = new ConcurrentLinkedQueue<>();
    private final ResourceLeakDetector.Level before = ResourceLeakDetector.getLevel();

    Leaks() throws ReflectiveOperationException {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
        // Netty's buffers have had their detector since their classes were loaded, perhaps by another test.
        Field detector = Class.forName("io.netty.buffer.AbstractByteBuf").getDeclaredField("leakDetector");
        detector.setAccessible(true);
        ((ResourceLeakDetector<?>) detector.get(null)).setLeakListener((type, records) -> found.add(type + records));
    }

    void assertNone() throws InterruptedException {
        for (int i = 0; i < 2; i++) {
            look();
        }
        ResourceLeakDetector.setLevel(before);
        assertEquals(0, found.size(), () -> found.size() + " leaks, the first " + found.peek());
    }

    /** Waits until one is found that was touched with a hint. */
    void await(String hint) throws InterruptedException {
        while (found.stream().noneMatch(each -> each.contains(hint))) {
            look();
        }
        ResourceLeakDetector.setLevel(before);
    }

    private static void look() throws InterruptedException {
        ReferenceQueue<Object> collected = new ReferenceQueue<>();
        WeakReference<Object> garbage = new WeakReference<>(new Object(), collected);
        while (collected.remove(100) != garbage) {
            System.gc();
        }
        RdmaByteBufAllocator.DEFAULT.directBuffer(1).release(); // each buffer that is made reports those found
    }
}
