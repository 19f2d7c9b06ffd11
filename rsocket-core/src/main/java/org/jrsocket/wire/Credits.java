/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.wire;

/**
 * Arithmetic of credits: each side may send data messages until a counter meets a limit that the other side sets. Both
 * are 16 bits wide and wrap; every argument and result is 0 to 65535, except where a count is meant.
 *
 * <p>The limit is absolute: the number of data messages whose receives were given back to the device, whether or not
 * the application has read them, plus the credits of the connection data. The sender stops when the counter equals the
 * limit (an equality test, so a window of 65535 works and one of 65536 would look closed).
 */
public final class Credits {

    /** The mask that cuts a value to 16 bits. */
    public static final int MASK = 0xffff;

    private Credits() {}

    /** Returns how many data messages may still be sent. */
    public static int window(int limit, int sent) {
        return limit - sent & MASK;
    }

    /** Returns the counter after one more message. */
    public static int next(int sequence) {
        return sequence + 1 & MASK;
    }

    /**
     * Returns whether a new limit is one that an honest peer can send: it never opens a window wider than the first
     * one, counted from what we sent or from the old limit. The second test also catches a limit that goes back.
     *
     * @param initial the credits of the peer's connection data
     */
    public static boolean isLimitPlausible(int newLimit, int oldLimit, int sent, int initial) {
        return window(newLimit, sent) <= initial && window(newLimit, oldLimit) <= initial;
    }
}
