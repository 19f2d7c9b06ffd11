/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jrsocket.stream.BorrowedBytes;
import org.jrsocket.stream.LentMemory;
import org.jrsocket.stream.RdmaStream;

/** A stream whose bulk is sent from the program's own memory and read where it arrives; the rest is copied. */
final class LendWire extends StreamWire {

    /**
     * So much may be on its way: a program has to know when its memory is free again. It waits until half of that is.
     */
    private static final int AHEAD = 1 << 20;

    LendWire(RdmaStream stream) {
        super(stream);
    }

    @Override
    public void writeAll(byte[] data, int count) throws IOException {
        int ahead = Math.max(AHEAD, 2 * data.length);
        long free = stream.bytesWritten();
        try (LentMemory memory =
                stream.register(ByteBuffer.allocateDirect(data.length).put(data))) {
            for (int i = 0; i < count; i++) {
                long end = stream.writeLent(memory, 0, data.length);
                if (end - free > ahead) {
                    free = end - ahead / 2;
                    stream.awaitAcknowledged(free, 0);
                }
            }
        }
    }

    @Override
    public void readAll(byte[] buffer, long bytes) throws IOException {
        ByteBuffer copies = ByteBuffer.wrap(buffer);
        for (long left = bytes; left > 0; ) {
            int most = (int) Math.min(buffer.length, left);
            BorrowedBytes lent = stream.borrow(most);
            if (lent != null) {
                left -= lent.length();
                lent.close();
                continue;
            }
            int n = stream.read(copies.clear().limit(most));
            if (n < 0) {
                throw new EOFException(left + " bytes early");
            }
            left -= n;
            if (n == 0) {
                stream.awaitReadable(0);
            }
        }
    }
}
