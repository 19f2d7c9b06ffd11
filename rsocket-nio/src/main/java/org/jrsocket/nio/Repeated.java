/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * Helpers for a gathering write that names a buffer more than once. The JDK sends the buffer each time, from where it
 * stood before the call; if the buffers were read in turn, it would be empty the second time.
 */
final class Repeated {

    /** The number of buffers beyond which comparing each with each takes longer than making a set. */
    private static final int FEW = 16;

    private Repeated() {}

    /** Returns whether a buffer occurs more than once. Allocates nothing for a few buffers. */
    @SuppressWarnings("ReferenceEquality") // the same buffer is meant, not the same content
    static boolean isIn(ByteBuffer[] buffers, int offset, int length) {
        if (length > FEW) {
            Set<ByteBuffer> seen = Collections.newSetFromMap(new IdentityHashMap<>(2 * length));
            for (int i = offset; i < offset + length; i++) {
                if (!seen.add(buffers[i])) {
                    return true;
                }
            }
            return false;
        }
        for (int i = offset + 1; i < offset + length; i++) {
            for (int j = offset; j < i; j++) {
                if (buffers[i] == buffers[j]) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Returns the same bytes in buffers of which none occurs twice. */
    static ByteBuffer[] views(ByteBuffer[] buffers, int offset, int length) {
        ByteBuffer[] views = new ByteBuffer[length];
        for (int i = 0; i < length; i++) {
            views[i] = buffers[offset + i].duplicate().mark();
        }
        return views;
    }

    /** Moves each buffer to the end of its last part that was sent, after {@code n} bytes of the views were sent. */
    static void advance(ByteBuffer[] buffers, int offset, ByteBuffer[] views, long n) {
        long left = n;
        for (int i = 0; i < views.length && left > 0; i++) {
            int end = views[i].position();
            buffers[offset + i].position(end);
            left -= end - views[i].reset().position();
        }
    }
}
