/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class NativeMemoryTest {

    @Test
    void shouldGiveZeroedPages() {
        NativeMemory memory = NativeMemory.allocate(5000);
        try {
            assertEquals(2 * NativeMemory.PAGE, memory.size());
            assertEquals(0, memory.address() % NativeMemory.PAGE);
            assertEquals(memory.address(), NativeMemory.addressOf(memory.buffer()));
            for (int i = 0; i < memory.size(); i += 8) {
                assertEquals(0, memory.buffer().getLong(i));
            }
        } finally {
            memory.free();
        }
    }

    @Test
    void shouldCountWholePagesOfTheSystem() throws Exception {
        Process getconf = new ProcessBuilder("getconf", "PAGESIZE").start();
        int page = Integer.parseInt(
                new String(getconf.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip());
        assertEquals(0, NativeMemory.whole(0));
        assertEquals(page, NativeMemory.whole(1));
        assertEquals(page, NativeMemory.whole(page));
        assertEquals(2 * page, NativeMemory.whole(page + 1));
        assertThrows(ArithmeticException.class, () -> NativeMemory.whole(Integer.MAX_VALUE));
    }

    @Test
    void shouldShowTheSameBytesThroughAView() {
        NativeMemory memory = NativeMemory.allocate(1);
        memory.buffer().putInt(8, 0x0102_0304);
        ByteBuffer view = NativeMemory.view(memory.address() + 8, 4);
        assertEquals(4, view.capacity());
        assertEquals(0x0102_0304, view.getInt(0));
        assertEquals(ByteOrder.nativeOrder(), view.order());
        assertSame(memory.buffer(), memory.buffer());
        memory.free();
    }

    @Test
    void shouldCountWhatIsNotFreedAndFreeOnce() {
        // Many times what other tests of this JVM may have left to the collector, which may give it back meanwhile.
        int size = 512 << 20;
        long before = NativeMemory.allocatedBytes();
        NativeMemory memory = NativeMemory.allocate(size);
        assertEquals(1, Math.round((double) (NativeMemory.allocatedBytes() - before) / size));
        memory.free();
        memory.free();
        assertEquals(0, Math.round((double) (NativeMemory.allocatedBytes() - before) / size));
    }

    @Test
    void shouldSayWhyThereIsNone() {
        assertThrows(OutOfMemoryError.class, () -> NativeMemory.allocate(Integer.MAX_VALUE));
        assertEquals(-Errno.EINVAL, OsNative.map(0));
        assertEquals(-Errno.ENOMEM, OsNative.map(1L << 60));
    }

    @Test
    void shouldKnowHeapBuffersHaveNoAddress() {
        assertEquals(0, NativeMemory.addressOf(ByteBuffer.allocate(8)));
    }
}
