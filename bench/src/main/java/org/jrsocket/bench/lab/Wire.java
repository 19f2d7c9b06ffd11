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

    /** Writes all of {@code data}, {@code count} times. */
    default void writeAll(byte[] data, int count) throws IOException {
        for (int i = 0; i < count; i++) {
            write(data, data.length);
        }
    }

    /** Reads so many bytes, as many at a time as the buffer takes. */
    default void readAll(byte[] buffer, long bytes) throws IOException {
        for (long left = bytes; left > 0; ) {
            int n = read(buffer, 0, (int) Math.min(buffer.length, left));
            if (n < 0) {
                throw new EOFException(left + " bytes early");
            }
            left -= n;
        }
    }

    /** As a program does that is written for this wire. */
    default void run(RoundTrips trips) throws IOException {
        do {
            trips.begin();
            write(trips.out, trips.out.length);
            readFully(trips.in, trips.in.length);
        } while (trips.end());
    }

    /** Sends back each message that fills the buffer, until the stream ends. */
    default void echo(byte[] buffer) throws IOException {
        for (; ; ) {
            int at = 0;
            while (at < buffer.length) {
                int n = read(buffer, at, buffer.length - at);
                if (n < 0) {
                    return;
                }
                at += n;
            }
            write(buffer, buffer.length);
        }
    }
}
