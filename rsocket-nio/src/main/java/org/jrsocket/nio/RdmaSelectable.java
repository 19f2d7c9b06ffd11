/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import org.jrsocket.stream.RdmaStream;

/** A channel of ours, as selectors see it. All methods may be called by any thread and do not block. */
interface RdmaSelectable {

    /** The key begins: the channel tells it from now on of its inner TCP channel, its stream and its progress. */
    void join(RSelectionKey key);

    /** The key has ended. */
    void leave(RSelectionKey key);

    /** What of {@code interest} the channel inside the JDK's selector is to watch. */
    int tcpInterest(int interest);

    /**
     * What is ready of {@code interest}, apart from what the JDK's selector sees.
     *
     * @param poll whether to make what progress can be made without waiting
     */
    int readyOps(int interest, boolean poll);

    /**
     * Whether something of {@code interest} may be ready, as far as can be told without progress and without a lock.
     */
    default boolean mayBeReady(int interest) {
        return true;
    }

    /**
     * The selector of {@code key} has taken events of the stream: it is not armed any more, and others must look, too.
     */
    default void eventsTaken(RSelectionKey key) {}

    /** The stream whose completion channel wakes a selector, or null. */
    RdmaStream stream();
}
