/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import org.jrsocket.endpoint.EndpointSizes;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.protocol.Inbound;

/**
 * The sizes and times of a stream, fixed before it connects. Immutable. Values out of range are silently replaced by
 * the nearest value in range: settings and socket options are checked earlier.
 *
 * @param sendBuffer bytes that send memory may grow to (what SO_SNDBUF says); {@value #MIN_BUFFER} to
 *     {@value #MAX_BUFFER}
 * @param receiveBuffer bytes that receive memory may grow to (what SO_RCVBUF says); the same range
 * @param receiveSlab bytes of the first grant to the peer and of the smallest grants, in whole pages; an idle
 *     connection holds two of them, or all of a smaller receive buffer
 * @param sendQueue work requests of the send queue, {@value #MIN_QUEUE} to {@value #MAX_QUEUE}; limited to what the
 *     device takes
 * @param receiveQueue work requests of the receive queue, the same range; limited to what the device takes
 * @param inline bytes of payload that may travel inside a work request, 0 to {@value #MAX_INLINE}; the device may grant
 *     more or less
 * @param spinNanos how long a waiting thread polls before it sleeps; 0 sleeps at once
 * @param typeOfService the IP type-of-service byte of the packets; only the lowest eight bits count, and 0 leaves it to
 *     the kernel
 * @param ackTimeoutNanos how long the device waits for an acknowledgement before it sends again, rounded up to a power
 *     of two times 4.096 us; it tries seven times before the connection is lost. {@value #MIN_ACK_TIMEOUT} to
 *     {@value #MAX_ACK_TIMEOUT}
 */
public record StreamConfig(
        int sendBuffer,
        int receiveBuffer,
        int sendQueue,
        int receiveQueue,
        int inline,
        long spinNanos,
        int typeOfService,
        int receiveSlab,
        long ackTimeoutNanos) {

    public static final int MIN_BUFFER = 4096;
    public static final int MAX_BUFFER = 1 << 28;
    public static final int MIN_QUEUE = 16;
    public static final int MAX_QUEUE = 65534;
    public static final int MAX_INLINE = 4096;
    public static final long MIN_ACK_TIMEOUT = 1_000_000;
    /** If longer, {@link DeviceSilence} would not outwait all tries of a device that takes four times as long. */
    public static final long MAX_ACK_TIMEOUT = 2_000_000_000;
    /**
     * 2^16 times 4.096 us, which is about the least that TCP waits; devices may take up to four times that. It also
     * decides how long a path may be down: with six retries the last is sent five to six such times after the path went
     * down, because the clock of the first may already be running. That is 1.3 s or more. With a quarter of the
     * timeout, which some use, it would be 0.3 s, and connections would not outlive a network that finds another way.
     */
    private static final long ACK_TIMEOUT = 268_000_000;

    private static final int PAGE = NativeMemory.PAGE;
    private static final int SEND_SLAB = 8 * 1024;

    /**
     * Devices round a queue up to a power of two, soft-RoCE after adding one request, and the queues are most of what
     * an idle connection takes. These are the largest sizes that need 64 places, and 256 with the spare receives: far
     * more messages than a window holds, because small writes go out together while others are on their way.
     */
    private static final int SENDS = 63;

    private static final int RECEIVES = 255 - Inbound.SPARE_RECEIVES;

    /** What a stream gets by default. */
    public static final StreamConfig DEFAULT =
            new StreamConfig(1 << 20, 4 << 20, SENDS, RECEIVES, 128, 500_000, 0, 8 * 1024, ACK_TIMEOUT);

    public StreamConfig {
        sendBuffer = clamp(sendBuffer, MIN_BUFFER, MAX_BUFFER);
        receiveBuffer = clamp(receiveBuffer, MIN_BUFFER, MAX_BUFFER);
        sendQueue = clamp(sendQueue, MIN_QUEUE, MAX_QUEUE);
        receiveQueue = clamp(receiveQueue, MIN_QUEUE, MAX_QUEUE);
        inline = clamp(inline, 0, MAX_INLINE);
        spinNanos = Math.max(0, spinNanos);
        typeOfService &= 0xff;
        receiveSlab = clamp(receiveSlab, MIN_BUFFER, MAX_BUFFER / 2) + PAGE - 1 & -PAGE;
        ackTimeoutNanos = Math.max(MIN_ACK_TIMEOUT, Math.min(MAX_ACK_TIMEOUT, ackTimeoutNanos));
    }

    private static int clamp(int value, int min, int max) {
        return Math.max(min, Math.min(max, value));
    }

    /**
     * Returns the bytes that a connection has registered while it is idle: two receive slabs, a send slab, its grant
     * table, and a page for outgoing grants. Where pages are larger than 4 KiB it pins more.
     */
    public int leastBytes() {
        return 2 * firstReceiveSlab() + firstSendSlab() + 2 * PAGE;
    }

    /** Returns the bytes of the first grant; the buffer is at least two of them. */
    private int firstReceiveSlab() {
        return Math.min(receiveSlab, mostReceiveMemory() / 2);
    }

    private int firstSendSlab() {
        return Math.min(SEND_SLAB, mostSendMemory());
    }

    EndpointSizes endpointSizes() {
        return new EndpointSizes(sendQueue, receiveQueue, firstSendSlab(), firstReceiveSlab(), inline);
    }

    /** Returns the bytes that the send memory may grow to, in whole pages. */
    int mostSendMemory() {
        return sendBuffer + PAGE - 1 & -PAGE;
    }

    /** Returns the bytes that the receive memory may grow to, in whole pages and an even number of them. */
    int mostReceiveMemory() {
        return receiveBuffer + 2 * PAGE - 1 & -2 * PAGE;
    }

    /** Returns a copy with other bytes that send and receive memory may grow to. */
    public StreamConfig withBuffers(int send, int receive) {
        return new StreamConfig(
                send, receive, sendQueue, receiveQueue, inline, spinNanos, typeOfService, receiveSlab, ackTimeoutNanos);
    }

    /** Returns a copy with other numbers of work requests. */
    public StreamConfig withQueues(int send, int receive) {
        return new StreamConfig(
                sendBuffer,
                receiveBuffer,
                send,
                receive,
                inline,
                spinNanos,
                typeOfService,
                receiveSlab,
                ackTimeoutNanos);
    }

    /** Returns a copy with other bytes that may travel inside a work request. */
    public StreamConfig withInline(int bytes) {
        return new StreamConfig(
                sendBuffer,
                receiveBuffer,
                sendQueue,
                receiveQueue,
                bytes,
                spinNanos,
                typeOfService,
                receiveSlab,
                ackTimeoutNanos);
    }

    /** Returns a copy with another time that a waiting thread polls. */
    public StreamConfig withSpinNanos(long nanos) {
        return new StreamConfig(
                sendBuffer,
                receiveBuffer,
                sendQueue,
                receiveQueue,
                inline,
                nanos,
                typeOfService,
                receiveSlab,
                ackTimeoutNanos);
    }

    /** Returns a copy with another type-of-service byte; 0, as a socket has it that was given none, changes nothing. */
    public StreamConfig withTypeOfService(int tos) {
        if (tos == 0) {
            return this;
        }
        return new StreamConfig(
                sendBuffer,
                receiveBuffer,
                sendQueue,
                receiveQueue,
                inline,
                spinNanos,
                tos,
                receiveSlab,
                ackTimeoutNanos);
    }

    /** Returns a copy with other bytes of the first grant, rounded up to whole pages. */
    public StreamConfig withReceiveSlab(int bytes) {
        return new StreamConfig(
                sendBuffer,
                receiveBuffer,
                sendQueue,
                receiveQueue,
                inline,
                spinNanos,
                typeOfService,
                bytes,
                ackTimeoutNanos);
    }

    /** Returns a copy with another time until the device sends again. */
    public StreamConfig withAckTimeoutNanos(long nanos) {
        return new StreamConfig(
                sendBuffer,
                receiveBuffer,
                sendQueue,
                receiveQueue,
                inline,
                spinNanos,
                typeOfService,
                receiveSlab,
                nanos);
    }
}
