/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import org.jrsocket.wire.Imm;

/**
 * The constraints of the device and the driver on the requests that an {@code Outbound} builds.
 *
 * @param slots slots of the send queue
 * @param slotsPerMessage slots that a message with payload takes; 2 on iWARP
 * @param pieces scatter entries that a request can have
 * @param maxMessage bytes of the largest message
 * @param inline bytes up to which a message may travel inside its request
 * @param busy slots in use from which on writes of less than {@code bulk} bytes wait, so that they go out together
 * @param bulk bytes that never wait for more
 */
public record SendLimits(int slots, int slotsPerMessage, int pieces, int maxMessage, int inline, int busy, int bulk) {

    /** Send queue slots that data leaves for grants, credits and the end of the stream. */
    static final int CONTROL_SLOTS = 8;

    /** Slots for RESET and DISCONNECT; everything that goes before them leaves these free. */
    static final int END_SLOTS = 2;

    /**
     * When so many requests are on their way, small writes start to be collected: enough to hide a round trip, few
     * enough to batch.
     */
    private static final int BUSY = 8;
    /** When so many bytes are pending, waiting for more gains nothing. */
    public static final int BULK = 16 * 1024;
    /** The largest request: small enough that memory comes back while the next one travels. */
    public static final int MAX_MESSAGE = 64 * 1024;

    /** Returns the limits that streams use; the arguments are the device's. */
    public static SendLimits standard(int slots, int slotsPerMessage, int pieces, int inline) {
        return new SendLimits(slots, slotsPerMessage, pieces, MAX_MESSAGE, inline, BUSY, BULK);
    }

    public SendLimits {
        if (slots < 2 * CONTROL_SLOTS
                || slotsPerMessage < 1
                || pieces < 1
                || maxMessage < 1
                || maxMessage > Imm.MAX_DATA
                || busy < 2) {
            throw new IllegalArgumentException(
                    "limits of " + slots + " slots, " + pieces + " pieces, " + maxMessage + " bytes, busy " + busy);
        }
    }
}
