/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.net.SocketException;

/**
 * Decides whom a socket or channel tells that its connection has failed; the stream itself tells everybody. The kernel
 * tells of a reset once. If a writer hears of it first ("Connection reset by peer"), readers find the end of the
 * stream. If a reader does, all reads fail from then on. Writes after either say "Broken pipe". Readers and writers may
 * be several threads.
 */
public final class ResetNews {

    // Guarded by this.
    private boolean told;
    private boolean writerToldFirst;

    /** To be asked when a read has failed: whether it is to be the end of the stream instead. */
    public synchronized boolean isTheEndOnly(SocketException failed) {
        if (writerToldFirst && isFailure(failed)) {
            return true;
        }
        told = true;
        return false;
    }

    /** What a writer is to be told whose write has failed. */
    public synchronized String toWriter(SocketException failed) {
        if (!isFailure(failed)) {
            return failed.getMessage();
        }
        boolean first = !told;
        writerToldFirst |= first;
        told = true;
        return first ? "Connection reset by peer" : "Broken pipe";
    }

    /** Whether the connection has failed, rather than ended, or been closed here. */
    public static boolean isFailure(SocketException e) {
        return e.getCause() instanceof SocketException;
    }
}
