/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import java.io.Closeable;
import java.io.IOException;

/**
 * One connection, with the blocking calls that both APIs can offer. One reader and one writer at a time, close from
 * anywhere.
 */
interface Link extends Closeable {

    /** Reads at least one byte; -1 at the end of the stream. */
    int read(byte[] target, int offset, int length) throws IOException;

    /** Writes all of it. */
    void write(byte[] source, int offset, int length) throws IOException;

    /** No more writes; the peer reads an end. */
    void finish() throws IOException;

    /** Closes with a reset. */
    void abort() throws IOException;
}
