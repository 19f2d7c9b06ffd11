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
 * The options of a socket that the kernel does not know yet. Those that the JDK is sure to accept are kept until there
 * is a TCP socket to set them on; the others need one at once. Not safe for use by many threads; its owner has a lock.
 *
 * @param <K> how the socket API names options
 */
public final class DeferredOptions<K> {

    /** Sets an option of a socket. */
    public interface Setter<K> {
        void set(K name, Object value) throws IOException;
    }

    private final Map<K, Object> defaults;
    private final BiFunction<K, Object, Object> simple;
    private final Map<K, Object> kept = new HashMap<>(4);

    /**
     * @param defaults the initial values of the options that need no socket
     * @param simple returns a value as the JDK would return it, if the JDK is sure to accept it; otherwise null
     */
    public DeferredOptions(Map<K, Object> defaults, BiFunction<K, Object, Object> simple) {
        this.defaults = defaults;
        this.simple = simple;
    }

    /** Keeps an option. Returns false if that is not possible and a socket has to say whether it takes it. */
    public boolean set(K name, Object value) {
        Object checked = simple.apply(name, value);
        if (checked == null) {
            return false;
        }
        kept.put(name, checked);
        return true;
    }

    /** Sets the initial value of an option, which a socket has accepted before. */
    public void inherit(K name, Object value) {
        kept.put(name, value);
    }

    /** Returns the value of an option, or null if only a socket knows it. */
    public Object get(K name) {
        return kept.getOrDefault(name, defaults.get(name));
    }

    /** Sets the kept options on a socket, now that there is one. */
    public void copyTo(Setter<K> socket) throws IOException {
        for (Map.Entry<K, Object> option : kept.entrySet()) {
            socket.set(option.getKey(), option.getValue());
        }
    }
}
