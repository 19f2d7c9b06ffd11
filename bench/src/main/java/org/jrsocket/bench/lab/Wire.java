/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.io.EOFException;
import java.io.IOException;

/**
 * One connection, whatever carries it. A JVM loads one implementation, so calls through this cost what direct calls do.
 */
interface Wire extends AutoCloseable {

    int read(byte[] target, int offset, int length) throws IOException;

    void write(byte[] source, int length) throws IOException;

    @Override
    void close() throws IOException;

    default void readFully(byte[] target, int length) throws IOException {
        int at = 0;
        while (at < length) {
            int n = read(target, at, length - at);
            if (n < 0) {
                throw new EOFException(at + " of " + length + " bytes");
            }
            at += n;
        }
    }
}
