/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

/**
 * Totals over all streams of a transport. Each number stands for itself; they are not of one moment.
 *
 * @param open streams that the application has not closed
 * @param closing streams that deliver what was written before they were closed, or are being freed
 * @param bytesRead bytes read by the application, from ended streams too
 * @param bytesWritten bytes written by the application, to ended streams too
 * @param registeredBytes bytes of memory that devices hold pinned for streams
 * @param memoryRefusals how often a stream wanted more memory, or to lend some, and was refused
 */
public record Totals(
        int open, int closing, long bytesRead, long bytesWritten, long registeredBytes, long memoryRefusals) {

    /** The totals of a transport that was never opened. */
    public static final Totals NONE = new Totals(0, 0, 0, 0, 0, 0);
}
