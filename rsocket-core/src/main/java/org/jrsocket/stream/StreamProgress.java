/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import org.jrsocket.protocol.SendMemory;

/**
 * What a stream waits for at one moment, as far as that is known without a look at the device.
 *
 * @param unread bytes that have arrived and that the application has not read
 * @param unsent bytes that the application has written and that the device was not given yet
 * @param waitsFor what keeps more from being sent or written
 * @param silentSeconds for how long the device has not said what became of a request; 0 if it owes no answer
 */
public record StreamProgress(long unread, long unsent, Wait waitsFor, long silentSeconds) {

    /** What a stream waits for before it can send, or take from a writer, any more. */
    public enum Wait {
        NOTHING,
        /** The peer grants no memory: its application does not read, perhaps. */
        GRANT,
        /** The peer gives no credits back. */
        CREDITS,
        /** The device has not carried out earlier requests, of which there may be no more at a time. */
        SEND_QUEUE,
        /** Send memory is full, and more is refused: by {@code memory.registered}, the system or the device. */
        MEMORY,
        /** Send memory is full, and as large as it may become: the peer's device has not acknowledged what is in it. */
        ACKNOWLEDGEMENT
    }

    /** Returns how it is with a stream now. */
    public static StreamProgress of(RdmaStream stream) {
        StreamDriver core = stream.core();
        core.enter();
        try {
            return new StreamProgress(
                    core.in.readable(),
                    core.out.written() - core.out.posted(),
                    waitsFor(core),
                    core.sweep.silentSeconds());
        } finally {
            core.exit();
        }
    }

    private static Wait waitsFor(StreamDriver core) {
        if (core.out.waitsForPeer()) {
            return core.out.peerRoom() > 0 ? Wait.CREDITS : Wait.GRANT;
        }
        if (core.out.waitsForCompletion()) {
            return Wait.SEND_QUEUE;
        }
        if (core.sendMemoryRefused) {
            return Wait.MEMORY;
        }
        SendMemory memory = core.connection.sendMemory();
        return memory.totalRoom() == 0 && core.out.isOpen() ? Wait.ACKNOWLEDGEMENT : Wait.NOTHING;
    }
}
