/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

/**
 * Sizes and times of a stream, fixed before it connects. Immutable.
 *
 * @param sendBuffer bytes of the send ring (what SO_SNDBUF says); {@value #MIN_BUFFER} to {@value #MAX_BUFFER}
 * @param receiveBuffer bytes of the receive ring (what SO_RCVBUF says); the same range
 * @param sendQueue work requests of the send queue, 16 to 65534; cut to what the device takes
 * @param receiveQueue work requests of the receive queue, 16 to 65534; cut to what the device takes
 * @param inline bytes of payload that may travel inside a work request; the device may grant more or less
 * @param spinNanos how long a waiting thread polls before it sleeps; 0 sleeps at once
 * @param typeOfService the IP type-of-service byte, 0 to 255
 */
public record StreamConfig(
        int sendBuffer,
        int receiveBuffer,
        int sendQueue,
        int receiveQueue,
        int inline,
        long spinNanos,
        int typeOfService) {

    public static final int MIN_BUFFER = 4096;
    public static final int MAX_BUFFER = 1 << 28;

    /** What a stream gets when nobody says otherwise. */
    public static final StreamConfig DEFAULT = new StreamConfig(256 * 1024, 256 * 1024, 128, 256, 128, 500_000, 0);

    public StreamConfig {
        sendBuffer = clamp(sendBuffer, MIN_BUFFER, MAX_BUFFER);
        receiveBuffer = clamp(receiveBuffer, MIN_BUFFER, MAX_BUFFER);
        sendQueue = clamp(sendQueue, 16, 65534);
        receiveQueue = clamp(receiveQueue, 16, 65534);
        inline = clamp(inline, 0, 4096);
        spinNanos = Math.max(0, spinNanos);
        typeOfService &= 0xff;
    }

    private static int clamp(int value, int min, int max) {
        return Math.max(min, Math.min(max, value));
    }

    public StreamConfig withBuffers(int send, int receive) {
        return new StreamConfig(send, receive, sendQueue, receiveQueue, inline, spinNanos, typeOfService);
    }

    public StreamConfig withQueues(int send, int receive) {
        return new StreamConfig(sendBuffer, receiveBuffer, send, receive, inline, spinNanos, typeOfService);
    }

    public StreamConfig withInline(int bytes) {
        return new StreamConfig(sendBuffer, receiveBuffer, sendQueue, receiveQueue, bytes, spinNanos, typeOfService);
    }

    public StreamConfig withSpinNanos(long nanos) {
        return new StreamConfig(sendBuffer, receiveBuffer, sendQueue, receiveQueue, inline, nanos, typeOfService);
    }

    public StreamConfig withTypeOfService(int tos) {
        return new StreamConfig(sendBuffer, receiveBuffer, sendQueue, receiveQueue, inline, spinNanos, tos);
    }
}
