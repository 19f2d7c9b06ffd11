/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.net.SocketException;

/**
 * Decides whom a socket or channel tells that its connection has failed; the stream itself tells everybody. The kernel
 * reports a reset once. If a writer is told first ("Connection reset by peer"), readers find the end of the stream. If
 * a reader is told first, all reads fail from then on. In both cases later writes fail with "Broken pipe". There may be
 * several reader and writer threads.
 */
public final class ResetNews {

    // Guarded by this.
    private boolean told;
    private boolean writerToldFirst;

    /** Records that a read has failed. Returns whether it should find the end of the stream instead. */
    public synchronized boolean tellReader(SocketException failed) {
        if (writerToldFirst && isFailure(failed)) {
            return true;
        }
        told = true;
        return false;
    }

    /** Returns the message for a writer whose write has failed. */
    public synchronized String toWriter(SocketException failed) {
        if (!isFailure(failed)) {
            return failed.getMessage();
        }
        boolean first = !told;
        writerToldFirst |= first;
        told = true;
        return first ? "Connection reset by peer" : "Broken pipe";
    }

    /** Returns whether the connection has failed, rather than ended or been closed here. */
    public static boolean isFailure(SocketException e) {
        return StreamFailure.of(e) != null;
    }
}
