/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import java.nio.ByteOrder;

/** Turns immediate data, which verbs keep as raw network-order bytes, into host order and back. */
public final class NetOrder {

    private static final boolean LITTLE = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    private NetOrder() {}

    public static int swap(int value) {
        return LITTLE ? Integer.reverseBytes(value) : value;
    }
}
