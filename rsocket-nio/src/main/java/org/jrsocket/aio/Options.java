/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.net.SocketException;
import java.net.SocketOption;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NetworkChannel;
import java.util.Objects;

/** Checks the use of socket options, in the JDK's order and with its messages. */
final class Options {

    private Options() {}

    static void check(NetworkChannel channel, SocketOption<?> name) throws ClosedChannelException {
        if (!channel.supportedOptions().contains(Objects.requireNonNull(name))) {
            throw new UnsupportedOperationException("'" + name + "' not supported");
        }
        if (!channel.isOpen()) {
            throw new ClosedChannelException();
        }
    }

    /** Checks values that the JDK's blocking channels refuse differently from its asynchronous ones, which cast. */
    static void checkValue(SocketOption<?> name, Object value) throws SocketException {
        if (value == null) {
            throw new IllegalArgumentException("Invalid option value");
        }
        if (name.name().equals("SO_INCOMING_NAPI_ID")) {
            throw new SocketException("Attempt to set read only option " + name.name());
        }
        if (name.type() == Integer.class) {
            Integer unused = (Integer) value; // the exception is the cast's own
        } else if (name.type() == Boolean.class) {
            Boolean unused = (Boolean) value;
        }
    }
}
