/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.os;

import java.nio.ByteBuffer;

/**
 * The native methods that need nothing but the C library. They are implemented in {@code src/main/native/os}, one C
 * file per concept, and registered in {@code JNI_OnLoad}. Results that can fail are a negative errno; nothing here
 * throws. Call only after {@link NativeLibrary#load()} of {@link NativeLibrary#OS}.
 */
final class OsNative {

    /**
     * Raised with every change of a signature or a struct layout. The library's number, which is checked when it is
     * loaded, must be the same.
     */
    static final int ABI = 10;

    private OsNative() {}

    // memory.c

    /** Returns the size of the system's pages in bytes, a power of two. */
    static native int pageSize();

    /** Returns the address of zeroed, page-aligned memory, or a negative errno. */
    static native long map(long bytes);

    static native void unmap(long address, long bytes);

    static native ByteBuffer view(long address, long bytes);

    /** Returns the address where a direct buffer begins, whatever its position; 0 for a heap buffer. */
    static native long addressOf(ByteBuffer buffer);

    // fds.c

    static native int eventFd();

    static native int eventFdWrite(int fd);

    /** Returns 1 if it was signalled, 0 if not. */
    static native int eventFdRead(int fd);

    static native int closeFd(int fd);

    /** Sets O_NONBLOCK. */
    static native int nonBlocking(int fd);

    static native int pollReadable(int fd1, int fd2, long nanos);

    static native int epollCreate();

    static native int epollCtl(int epoll, int op, int fd, int events, long data);

    /** Fills 16-byte entries at {@code address}: events (4), padding (4), data (8). */
    static native int epollWait(int epoll, long address, int capacity, long nanos);
}
