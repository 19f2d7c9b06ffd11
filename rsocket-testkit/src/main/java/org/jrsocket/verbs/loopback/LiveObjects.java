/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

/** The number of objects of each kind that have been made and not yet destroyed. */
public record LiveObjects(int cmChannels, int ids, int qps, int cqs, int compChannels, int mrs, int pds) {

    /** The state in which nothing lives. */
    public static final LiveObjects NONE = new LiveObjects(0, 0, 0, 0, 0, 0, 0);

    /** Returns whether nothing lives. */
    public boolean isEmpty() {
        return equals(NONE);
    }
}
