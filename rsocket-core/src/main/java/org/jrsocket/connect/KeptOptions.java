/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiFunction;

/**
 * The options of a socket that the kernel does not know of yet: those that the JDK would accept for sure, until there
 * is a TCP socket to set them on. The others need one at once. Not safe for use by many threads; its owner has a lock.
 *
 * @param <K> how the socket API names options
 */
public final class KeptOptions<K> {

    /** Sets an option of a socket. */
    public interface Setter<K> {
        void set(K name, Object value) throws IOException;
    }

    private final Map<K, Object> defaults;
    private final BiFunction<K, Object, Object> simple;
    private final Map<K, Object> kept = new HashMap<>(4);

    /**
     * @param defaults what an option is before anybody sets it; of those that need no socket
     * @param simple what the JDK would give back of a value that it accepts for sure; null of any other
     */
    public KeptOptions(Map<K, Object> defaults, BiFunction<K, Object, Object> simple) {
        this.defaults = defaults;
        this.simple = simple;
    }

    /** Whether it is kept; if not, a socket has to say whether it takes it. */
    public boolean set(K name, Object value) {
        Object checked = simple.apply(name, value);
        if (checked == null) {
            return false;
        }
        kept.put(name, checked);
        return true;
    }

    /** It has this value from the start, which a socket has taken before. */
    public void inherit(K name, Object value) {
        kept.put(name, value);
    }

    /** Null if only a socket knows. */
    public Object get(K name) {
        return kept.getOrDefault(name, defaults.get(name));
    }

    /** There is a socket: it gets what was set. */
    public void copyTo(Setter<K> socket) throws IOException {
        for (Map.Entry<K, Object> option : kept.entrySet()) {
            socket.set(option.getKey(), option.getValue());
        }
    }
}
