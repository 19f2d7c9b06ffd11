/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.net.SocketOption;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NetworkChannel;
import java.util.Objects;

/** What is wrong with asking a channel for an option, in the JDK's order and words. */
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
}
