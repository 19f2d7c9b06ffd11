/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.util.ArrayList;
import java.util.List;

/** The keys of a channel. Changed by one thread at a time, with the channel's state lock; read without it. */
final class ChannelKeys {

    private volatile List<RSelectionKey> all = List.of();

    /** At this moment. */
    List<RSelectionKey> all() {
        return all;
    }

    void add(RSelectionKey key) {
        List<RSelectionKey> more = new ArrayList<>(all);
        more.add(key);
        all = List.copyOf(more);
    }

    void remove(RSelectionKey key) {
        List<RSelectionKey> fewer = new ArrayList<>(all);
        fewer.remove(key);
        all = List.copyOf(fewer);
    }

    /** What the channel is to its selectors has changed: it has another state, or another channel inside. */
    void refresh() {
        all.forEach(RSelectionKey::refresh);
    }

    /** Something may have become ready. On the threads that move data: allocates nothing, and must not block. */
    void progressed() {
        List<RSelectionKey> now = all;
        for (int i = 0; i < now.size(); i++) {
            now.get(i).onProgress();
        }
    }

    /** Before the mode changes, which the JDK refuses while it believes in a key that was cancelled outside. */
    void endCancelled() {
        for (RSelectionKey key : all) {
            if (!key.isValid()) {
                key.cancelInner();
            }
        }
    }
}
