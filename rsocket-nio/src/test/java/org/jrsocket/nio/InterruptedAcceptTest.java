/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.SocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** An accept that is interrupted when it has a connection already, which nobody will ever get, leaves no client that waits for ever. */
class InterruptedAcceptTest extends LoopbackChannelTests {

    @Test
    void shouldEndTheConnectionThatAnInterruptedAcceptHadTaken() throws Exception {
        for (int round = 0; round < 1000; round++) {
            ServerSocketChannel listener = listening();
            SocketAddress address = listener.getLocalAddress();
            Failing accepting = new Failing(() -> listener.accept().close(), new CountDownLatch(0));
            Future<Integer> client = background(() -> {
                try (SocketChannel channel = kind.provider().openSocketChannel()) {
                    channel.connect(address);
                    return channel.read(ByteBuffer.allocate(1));
                } catch (SocketException e) {
                    return -1; // refused or reset: the listener was closed first
                }
            });
            for (long until = System.nanoTime() + round * 200; System.nanoTime() < until;) { // each round a little later, to meet each moment
                Thread.onSpinWait();
            }
            accepting.thread.interrupt();
            Throwable thrown = accepting.join();
            assertEquals(-1, get(client), () -> "the accept ended with " + thrown);
            listener.close();
        }
    }
}
