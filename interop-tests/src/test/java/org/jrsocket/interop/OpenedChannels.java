/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.StandardSocketOptions;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** Opens one of each kind of channel, starts JMX, and says what was not possible. */
public final class OpenedChannels {

    private OpenedChannels() {}

    public static void main(String[] args) throws IOException {
        SocketChannel.open().close();
        ServerSocketChannel.open().close();
        DatagramChannel.open().close();
        Selector.open().close();
        try (AsynchronousSocketChannel channel = AsynchronousSocketChannel.open()) {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        }
        if (ModuleLayer.boot().findModule("java.management").isPresent()) {
            System.out.println("beans=" + Beans.areThere());
        }
    }

    /** Of its own, because the module may not be there. */
    private static final class Beans {
        static boolean areThere() {
            return ManagementFactory.getPlatformMBeanServer().getMBeanCount() > 10;
        }
    }
}
