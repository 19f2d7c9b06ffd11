/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A message in iWARP mode. iWARP has no immediate data, so the same 32 bits travel as the payload of a 4-byte SEND,
 * after a plain write if there is data. They are in the <em>sender's</em> host order: C converts on neither side, so
 * hosts of different byte order cannot talk over iWARP.
 */
public final class MessageWord {

    /** Size of a message in bytes. */
    public static final int SIZE = 4;

    private MessageWord() {}

    public static void put(ByteBuffer buffer, int index, int imm) {
        buffer.putInt(index, buffer.order() == ByteOrder.nativeOrder() ? imm : Integer.reverseBytes(imm));
    }

    public static int get(ByteBuffer buffer, int index) {
        int raw = buffer.getInt(index);
        return buffer.order() == ByteOrder.nativeOrder() ? raw : Integer.reverseBytes(raw);
    }
}
