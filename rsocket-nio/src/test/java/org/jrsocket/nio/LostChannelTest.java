/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import org.junit.jupiter.api.Test;

/**
 * A program that loses a selector and its channels without closing them loses descriptors, and nothing else: what it
 * attached to the keys, such as objects of a web application, is collected.
 */
class LostChannelTest extends LoopbackChannelTests {

    @Test
    void shouldNotKeepWhatIsAttachedToAConnectionThatIsLost() throws Exception {
        ServerSocketChannel server = listening();
        WeakReference<Object> attached = connectAndLose(server.getLocalAddress());
        closing(server.accept());
        awaitCollected(attached);
    }

    @Test
    void shouldNotKeepWhatIsAttachedToAListenerThatIsLost() throws Exception {
        awaitCollected(listenAndLose());
    }

    private WeakReference<Object> connectAndLose(SocketAddress server) throws IOException {
        return lose(kind.provider().openSocketChannel(), channel -> channel.connect(server), SelectionKey.OP_READ);
    }

    private WeakReference<Object> listenAndLose() throws IOException {
        return lose(
                kind.provider().openServerSocketChannel(),
                channel -> channel.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
                SelectionKey.OP_ACCEPT);
    }

    private interface Preparation<C> {
        void prepare(C channel) throws IOException;
    }

    private <C extends SelectableChannel> WeakReference<Object> lose(C channel, Preparation<C> before, int ops)
            throws IOException {
        before.prepare(channel);
        channel.configureBlocking(false);
        Selector selector = kind.provider().openSelector();
        Object attachment = new Object();
        channel.register(selector, ops, attachment);
        selector.selectNow();
        return new WeakReference<>(attachment);
    }

    private static void awaitCollected(WeakReference<?> what) throws InterruptedException {
        for (int i = 0; i < 500 && what.get() != null; i++) {
            System.gc();
            Thread.sleep(10);
        }
        assertNull(what.get());
    }
}
