/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/** The keys of a channel. Modified by one thread at a time, with the channel's state lock held; read without it. */
final class ChannelKeys {

    private volatile List<RSelectionKey> all = List.of();

    /** Returns the keys at this moment. */
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

    /** Tells the keys that the channel has changed for selectors: it has another state, or another inner channel. */
    void refresh() {
        all.forEach(RSelectionKey::refresh);
    }

    /** Tells the keys that something may be ready. On threads that move data: allocates nothing, must not block. */
    void progressed() {
        List<RSelectionKey> now = all;
        for (int i = 0; i < now.size(); i++) {
            now.get(i).onProgress();
        }
    }

    /**
     * Returns what does the same, for a transport to keep. It does not keep the keys: what a program attached to the
     * keys of a channel that it has lost, perhaps a class loader, is garbage, as with the JDK's channels.
     */
    Runnable progress() {
        WeakReference<ChannelKeys> keys = new WeakReference<>(this);
        return () -> {
            ChannelKeys known = keys.get();
            if (known != null) {
                known.progressed();
            }
        };
    }

    /** Tells all keys but {@code one} what {@link RSelectionKey.RdmaSelectable#eventsTaken} says. Allocates nothing. */
    void eventsTaken(RSelectionKey one) {
        List<RSelectionKey> now = all;
        for (int i = 0; i < now.size(); i++) {
            if (now.get(i) != one) {
                now.get(i).onEventsTaken();
            }
        }
    }

    /** Ends the inner keys of cancelled keys, because the JDK refuses to change the blocking mode while it has them. */
    void endCancelled() {
        for (RSelectionKey key : all) {
            if (!key.isValid()) {
                key.cancelInner();
            }
        }
    }
}
