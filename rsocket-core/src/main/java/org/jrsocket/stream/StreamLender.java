/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Sends from the application's own memory, and tells when it is free again. */
final class StreamLender {

    private final StreamDriver core;
    private final StreamWriter writer;

    StreamLender(StreamDriver core, StreamWriter writer) {
        this.core = core;
        this.writer = writer;
    }

    /** See {@code RdmaStream.register}. */
    LentMemory register(ByteBuffer buffer) throws IOException {
        core.enter();
        try {
            StreamReader.ensureUsable(core);
        } finally {
            core.exit();
        }
        return LentMemory.register(core, buffer);
    }

    /** See {@code RdmaStream.writeLent}. */
    long writeLent(LentMemory memory, int offset, int length) throws IOException {
        core.enter();
        try {
            writer.enter();
            try {
                if (!memory.isOf(core)) {
                    throw new IllegalArgumentException("memory that is registered for another stream");
                }
                if (writer.dropFirstWrite(length) > 0) {
                    return core.out.written(); // acknowledged together with what was written before, or never
                }
                writer.checkWritable();
                long end = memory.write(offset, length);
                writer.flushWritten(length);
                return end;
            } finally {
                writer.leave();
            }
        } finally {
            core.exit();
        }
    }

    /** See {@code RdmaStream.acknowledged}. */
    long acknowledged() {
        core.enter();
        try {
            core.poll();
            return core.out.acknowledged();
        } finally {
            core.exit();
        }
    }

    /** See {@code RdmaStream.awaitAcknowledged(long)}. */
    void awaitAcknowledged(long offset) {
        core.enter();
        try {
            core.awaitAcknowledged(offset);
        } finally {
            core.exit();
        }
    }

    /** See {@code RdmaStream.awaitAcknowledged(long, long)}. */
    boolean awaitAcknowledged(long offset, long nanos) throws IOException {
        core.enter();
        try {
            writer.enter();
            try {
                long written = core.out.written();
                if (offset > written) {
                    throw new IllegalArgumentException(
                            "offset " + offset + " is beyond the " + written + " bytes written");
                }
                core.awaitAcknowledged(offset);
                boolean inTime = core.waits.await(StreamCore.ACKNOWLEDGED, nanos);
                if (inTime && core.out.acknowledged() < offset) {
                    writer.checkWritable(); // it will never be reached
                }
                return inTime;
            } finally {
                writer.leave();
            }
        } finally {
            core.exit();
        }
    }
}
