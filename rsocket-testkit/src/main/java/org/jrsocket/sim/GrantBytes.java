/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** A grant in a byte array, in this machine's byte order, which both ends of a simulation share. */
final class GrantBytes {

    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());

    private GrantBytes() {}

    static void put(byte[] bytes, int at, long address, int key, int length) {
        LONG.set(bytes, at, address);
        INT.set(bytes, at + 8, key);
        INT.set(bytes, at + 12, length);
    }

    static long address(byte[] bytes, int at) {
        return (long) LONG.get(bytes, at);
    }

    static int key(byte[] bytes, int at) {
        return (int) INT.get(bytes, at + 8);
    }

    static int length(byte[] bytes, int at) {
        return (int) INT.get(bytes, at + 12);
    }

    static void length(byte[] bytes, int at, int length) {
        INT.set(bytes, at + 12, length);
    }
}
