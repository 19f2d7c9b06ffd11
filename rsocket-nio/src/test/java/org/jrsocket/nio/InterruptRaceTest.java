/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * An accept or a connect that is interrupted when it has a connection already, which nobody will ever get, leaves no
 * peer that waits for ever.
 */
@Tag("slow")
class InterruptRaceTest extends LoopbackChannelTests {

    @Test
    void shouldEndTheConnectionThatAnInterruptedAcceptHadTaken() throws Exception {
        for (int round = 0; round < 1000; round++) {
            ServerSocketChannel listener = listening();
            SocketAddress address = listener.getLocalAddress();
            Failing accepting = new Failing(() -> listener.accept().close(), new CountDownLatch(0));
            Future<Integer> client = background(() -> {
                try (SocketChannel channel = kind.provider().openSocketChannel()) {
                    channel.connect(address);
                    // Without this, Linux may keep from it for ever that it has no peer: a connection over TCP that is
                    // made just when its listener closes is not always reset, also between sockets of the JDK's.
                    channel.write(text("a"));
                    return channel.read(ByteBuffer.allocate(1));
                } catch (IOException e) {
                    return -1; // refused or reset: the listener was closed first
                }
            });
            spin(round * 200L); // each round a little later, to meet each moment
            accepting.thread.interrupt();
            Throwable thrown = accepting.join();
            assertEquals(-1, get(client), () -> "the accept ended with " + thrown);
            listener.close();
        }
    }

    @Test
    void shouldEndTheConnectionThatAnInterruptedConnectHadMade() throws Exception {
        ServerSocketChannel listener = listening();
        Future<?> echo = background(() -> {
            ByteBuffer one = ByteBuffer.allocate(1);
            while (true) {
                try (SocketChannel channel = listener.accept()) {
                    while (channel.read(one.clear()) >= 0) {
                        channel.write(one.flip());
                    }
                } catch (SocketException e) {
                    // reset: that is an end, too
                }
            }
        });
        for (int round = 0; round < 2000; round++) {
            Failing connecting = new Failing(
                    () -> {
                        try (SocketChannel channel = kind.provider().openSocketChannel()) {
                            channel.connect(listener.getLocalAddress());
                        }
                    },
                    new CountDownLatch(0));
            spin(round % 500 * 1000L);
            connecting.thread.interrupt();
            connecting.join();
        }
        Future<String> answer = background(() -> {
            try (SocketChannel last = kind.provider().openSocketChannel()) {
                last.connect(listener.getLocalAddress());
                last.write(text("a"));
                return read(last, 1);
            }
        });
        assertEquals("a", get(answer)); // the server, which serves one at a time, waits for none of them
        listener.close();
        assertThrows(ClosedChannelException.class, () -> get(echo));
    }

    private static void spin(long nanos) {
        for (long until = System.nanoTime() + nanos; System.nanoTime() < until; ) {
            Thread.onSpinWait();
        }
    }
}
