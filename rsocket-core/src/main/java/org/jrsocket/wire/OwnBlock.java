/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.wire;

import java.nio.ByteBuffer;
import java.util.zip.CRC32;

/**
 * What we add to the private data of the CM, where C does not look: 16 bytes in network order, at the end of the
 * message. IB and RoCE pad private data with zeros to a fixed size, and the receiver cannot tell what was really sent;
 * hence magic and checksum.
 *
 * <pre>
 *  0 "JRS1" 4 | length 1 | version 1 | value 2 | reserved 4 | CRC32 of all before it, from the start of the message, 4
 * </pre>
 */
final class OwnBlock {

    static final int SIZE = 16;

    private static final int MAGIC = 0x4a525331; // "JRS1"
    private static final int VERSION = 1;
    private static final int CHECKSUM = 12;

    private OwnBlock() {}

    /** Writes a block into {@code message}, which already has what comes before the block. */
    static void put(byte[] message, int at, int value) {
        ByteBuffer out = ByteBuffer.wrap(message);
        out.position(at);
        out.putInt(MAGIC)
                .put((byte) SIZE)
                .put((byte) VERSION)
                .putShort((short) value)
                .putInt(0)
                .putInt(checksum(message, at));
    }

    /** Returns the block's value, 0 to 65535; -1 if the block is absent, of another version, or damaged. */
    static int value(byte[] message, int at) {
        if (message.length < at + SIZE) {
            return -1;
        }
        ByteBuffer in = ByteBuffer.wrap(message);
        boolean sound = in.getInt(at) == MAGIC
                && in.get(at + 4) == SIZE
                && in.get(at + 5) == VERSION
                && in.getInt(at + CHECKSUM) == checksum(message, at);
        return sound ? Short.toUnsignedInt(in.getShort(at + 6)) : -1;
    }

    private static int checksum(byte[] message, int at) {
        CRC32 crc = new CRC32();
        crc.update(message, 0, at + CHECKSUM);
        return (int) crc.getValue();
    }
}
