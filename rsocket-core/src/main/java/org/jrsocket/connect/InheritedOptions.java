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
 * The options that were set on a listening socket, for the connections that it accepts over RDMA. Linux makes an
 * accepted TCP socket a copy of the listener. Safe for use by many threads.
 */
public final class InheritedOptions {

    /** The stream has the first from the listener; Linux does not copy the second. */
    private static final Set<String> NOT_AMONG_THEM = Set.of("SO_RCVBUF", "TCP_QUICKACK");

    private volatile Map<SocketOption<?>, Object> values = Map.of(); // never changed, only replaced, with this

    /** @param value as the listener gives it back */
    public synchronized void set(SocketOption<?> name, Object value) {
        if (!NOT_AMONG_THEM.contains(name.name())) {
            Map<SocketOption<?>, Object> next = new HashMap<>(values);
            next.put(name, value);
            values = Map.copyOf(next);
        }
    }

    /** Those of this moment, which do not change any more. */
    public Map<SocketOption<?>, Object> values() {
        return values;
    }
}
