/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

/** How many objects of each kind were made and not yet destroyed. */
public record LiveObjects(int cmChannels, int ids, int qps, int cqs, int compChannels, int mrs, int pds) {

    /** Nothing lives. */
    public static final LiveObjects NONE = new LiveObjects(0, 0, 0, 0, 0, 0, 0);

    public boolean isEmpty() {
        return equals(NONE);
    }
}
