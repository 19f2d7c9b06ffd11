/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.os;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A page-aligned, zeroed piece of memory outside the heap, fit for registration. It is {@code mmap}ed, so it does not
 * count towards {@code -XX:MaxDirectMemorySize} (which is the application's), and is returned to the system at once by
 * {@link #free()}. It has one owner; the buffer must not be touched after it is freed.
 */
public final class NativeMemory {

    /**
     * Sizes are multiples of this number of bytes, which divides every system's page size. {@link #whole} says how much
     * of the system's memory a size takes.
     */
    public static final int PAGE = 4096;

    private static final class SystemPage {
        static final int SIZE = OsNative.pageSize();
    }

    private static final AtomicLong ALLOCATED = new AtomicLong();

    private final ByteBuffer buffer;
    private final long address;
    private final long size;
    private boolean freed;

    private NativeMemory(long address, ByteBuffer buffer, long size) {
        this.address = address;
        this.buffer = buffer;
        this.size = size;
    }

    /**
     * Returns so many bytes rounded up to whole pages of the system: what they take, and what their registration pins.
     */
    public static int whole(int bytes) {
        NativeLibrary.OS.load();
        return Math.addExact(bytes, SystemPage.SIZE - 1) & -SystemPage.SIZE;
    }

    /**
     * @param bytes rounded up to a multiple of {@link #PAGE}
     * @throws OutOfMemoryError if the system gives none
     */
    public static NativeMemory allocate(int bytes) {
        NativeLibrary.OS.load();
        if (bytes > Integer.MAX_VALUE - PAGE) {
            throw new OutOfMemoryError(bytes + " bytes, rounded up to whole pages, exceed the size of a buffer");
        }
        int size = (bytes + PAGE - 1) & -PAGE;
        long address = OsNative.map(size);
        if (address < 0) {
            throw new OutOfMemoryError("mmap of " + size + " bytes: " + Errno.describe((int) -address));
        }
        try {
            ByteBuffer view = OsNative.view(address, size).order(ByteOrder.nativeOrder());
            NativeMemory memory = new NativeMemory(address, view, size);
            ALLOCATED.addAndGet(size);
            return memory;
        } catch (Throwable e) { // no memory for the objects
            OsNative.unmap(address, size);
            throw e;
        }
    }

    /** Returns a buffer in native byte order over memory that something else owns. For loopback verbs and tests. */
    public static ByteBuffer view(long address, int length) {
        NativeLibrary.OS.load();
        return OsNative.view(address, length).order(ByteOrder.nativeOrder());
    }

    /** Returns the address where a direct buffer begins, whatever its position; 0 for a heap buffer. */
    public static long addressOf(ByteBuffer buffer) {
        NativeLibrary.OS.load();
        return OsNative.addressOf(buffer);
    }

    public long address() {
        return address;
    }

    /**
     * Returns all of the memory, in native byte order, position 0. It is always the same object: use absolute access or
     * a duplicate.
     */
    public ByteBuffer buffer() {
        return buffer;
    }

    public int size() {
        return (int) size;
    }

    /** Returns the memory; harmless when repeated. Registrations over it must be gone. */
    public synchronized void free() {
        if (!freed) {
            freed = true;
            ALLOCATED.addAndGet(-size);
            OsNative.unmap(address, size);
        }
    }

    /** Returns the bytes allocated and not yet freed in this process; for leak tests and JMX. */
    public static long allocatedBytes() {
        return ALLOCATED.get();
    }
}
