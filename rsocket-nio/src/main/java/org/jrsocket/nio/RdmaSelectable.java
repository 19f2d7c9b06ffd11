/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import org.jrsocket.stream.RdmaStream;

/** A channel of ours, as selectors see it. All methods may be called by any thread and do not block. */
interface RdmaSelectable {

    /** Adds a key, which the channel tells from now on of its inner TCP channel, its stream and its progress. */
    void join(RSelectionKey key);

    /** Removes a key that has ended. */
    void leave(RSelectionKey key);

    /** Returns the operations of {@code interest} for which the JDK's selector is to watch the inner channel. */
    int tcpInterest(int interest);

    /**
     * Returns the operations of {@code interest} that are ready, apart from what the JDK's selector sees.
     *
     * @param poll whether to make the progress that is possible without waiting
     */
    int readyOps(int interest, boolean poll);

    /** Returns whether anything of {@code interest} may be ready, as far as can be told without progress or a lock. */
    default boolean mayBeReady(int interest) {
        return true;
    }

    /**
     * Tells the other keys that the selector of {@code key} has taken events of the stream: it is no longer armed, so
     * they must look too.
     */
    default void eventsTaken(RSelectionKey key) {}

    /** Returns the stream whose completion channel wakes a selector, or null. */
    RdmaStream stream();
}
