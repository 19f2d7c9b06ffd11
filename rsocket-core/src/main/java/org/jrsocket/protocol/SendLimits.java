/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import org.jrsocket.wire.Imm;

/**
 * What the device and the driver ask of the requests that an {@link Outbound} builds.
 *
 * @param slots of the send queue
 * @param slotsPerMessage that a message with payload takes; 2 on iWARP
 * @param pieces scatter entries that a request can have
 * @param maxMessage bytes of the largest message
 * @param inline bytes up to which a message may travel inside its request
 * @param busy slots in use from which writes of less than {@code bulk} bytes wait, so that they go out together
 * @param bulk bytes that never wait for more
 */
public record SendLimits(int slots, int slotsPerMessage, int pieces, int maxMessage, int inline, int busy, int bulk) {

    /** Send queue slots that data leaves for grants, credits and the end of the stream. */
    static final int CONTROL_SLOTS = 8;

    /** RESET and DISCONNECT: what goes before them leaves them these. */
    static final int END_SLOTS = 2;

    /**
     * With so many requests on their way, small writes start to be collected: enough to hide a round trip, few enough
     * to batch.
     */
    private static final int BUSY = 8;
    /** With so many bytes pending, waiting for more gains nothing. */
    public static final int BULK = 16 * 1024;
    /** Largest request: small enough that memory comes back while the next one travels. */
    public static final int MAX_MESSAGE = 64 * 1024;

    /** What streams use. The others are the device's. */
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
