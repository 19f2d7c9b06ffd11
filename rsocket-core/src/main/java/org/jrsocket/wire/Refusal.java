/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.wire;

/**
 * The reason why a listener of ours refused a request of ours, in the private data of the CM's REJ. This is an
 * extension: rsocket sends nothing there and does not look at what comes.
 *
 * <pre>
 *  0 "JRS1" 4 | length 1 | version 1 | reason 2 | reserved 4 | CRC32 of bytes 0 to 11, 4
 * </pre>
 *
 * <p>As with {@link ConnData}, a block that is absent, of another version or damaged says nothing, and is never an
 * error.
 */
public final class Refusal {

    /** No known reason. */
    public static final int UNKNOWN = 0;
    /**
     * The listener cannot take one more connection at the moment: its queue is full, or its host lacks memory,
     * descriptors or queue pairs.
     */
    public static final int BUSY = 1;
    /** There is a listener; the request did not want to know more. */
    public static final int PROBED = 2;
    /** The listener's host does not admit this connection over RDMA: by its rules or devices, or it is drained. */
    public static final int DENIED = 3;
    /** The listener's host can make no connection, and this will not pass by itself: its settings or its device. */
    public static final int UNABLE = 4;

    private Refusal() {}

    /** Returns the bytes for one of the reasons. */
    public static byte[] encode(int reason) {
        byte[] bytes = new byte[OwnBlock.SIZE];
        OwnBlock.put(bytes, 0, reason);
        return bytes;
    }

    /**
     * Returns the reason, or {@link #UNKNOWN} if there is none. Takes {@code privateData} as the CM reported it; bytes
     * beyond ours are padding.
     */
    public static int parse(byte[] privateData) {
        int reason = OwnBlock.value(privateData, 0);
        return reason < 0 ? UNKNOWN : reason;
    }
}
