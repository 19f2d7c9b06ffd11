/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.io.IOException;
import org.jrsocket.stream.RdmaStream;

/** A stream's blocking calls, which copy. */
class StreamWire implements Wire {

    final RdmaStream stream;

    StreamWire(RdmaStream stream) {
        this.stream = stream;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        return stream.read(target, offset, length, 0);
    }

    @Override
    public void write(byte[] source, int length) throws IOException {
        stream.write(source, 0, length, 0);
    }

    @Override
    public void close() {
        stream.close();
    }
}
