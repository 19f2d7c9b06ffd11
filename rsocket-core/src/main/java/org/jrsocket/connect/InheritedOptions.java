/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.SocketOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * The options set on a listening socket, for the connections that it accepts over RDMA. On Linux an accepted TCP socket
 * is a copy of the listener. Safe for use by many threads.
 */
public final class InheritedOptions {

    /** The stream has the first from the listener anyway; Linux does not copy the second. */
    private static final Set<String> NOT_INHERITED = Set.of("SO_RCVBUF", "TCP_QUICKACK");

    private volatile Map<SocketOption<?>, Object> values = Map.of(); // never changed, only replaced, under this

    /** @param value as the listener returns it */
    public synchronized void set(SocketOption<?> name, Object value) {
        if (!NOT_INHERITED.contains(name.name())) {
            Map<SocketOption<?>, Object> next = new HashMap<>(values);
            next.put(name, value);
            values = Map.copyOf(next);
        }
    }

    /** Returns the options of this moment, in a map that does not change any more. */
    public Map<SocketOption<?>, Object> values() {
        return values;
    }
}
