/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A writer that is out of the peer's room when the peer has made more: it sends at once, not when its own memory is
 * full or the service thread comes by.
 */
class StarvedWriterTest extends RawPeerTests {

    private static final int HALF = 64;

    enum Call {
        BLOCKING,
        NON_BLOCKING,
        GATHERING;

        void write(RdmaStream stream, int count) throws IOException {
            switch (this) {
                case BLOCKING -> stream.write(new byte[count], 0, count, PATIENCE);
                case NON_BLOCKING -> assertEquals(count, stream.write(ByteBuffer.allocate(count)));
                case GATHERING ->
                    assertEquals(count, stream.write(new ByteBuffer[] {ByteBuffer.allocate(count)}, 0, 1));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldUseAGrantThatCameBeforeItsWriteReturns(Call call) throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(HALF));
        l.peer().grantRing(HALF, HALF);
        call.write(l.stream(), 2 * HALF);
        assertFalse(hasLeftover(l.stream()));
        call.write(l.stream(), 1);
        assertTrue(l.stream().core().out.waitsForPeer(), "there is no room for this one");
        l.peer().grantRing(0, HALF);
        call.write(l.stream(), 1);
        assertFalse(hasLeftover(l.stream()));
        assertFalse(l.stream().core().out.waitsForPeer());
        assertEquals(2 * HALF + 2, RawPeer.bytesOf(awaitData(l.peer(), 2 * HALF + 2)).length);
    }

    private static boolean hasLeftover(RdmaStream stream) {
        stream.core().enter();
        try {
            return stream.core().hasLeftover();
        } finally {
            stream.core().exit();
        }
    }
}
