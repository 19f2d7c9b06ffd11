/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What selectors say of channels: readable, writable, acceptable, of all kinds together. */
abstract class ReadinessSuite extends NioSuite {

    @Test
    void shouldBeWritableAsSoonAsConnected() throws IOException {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ | SelectionKey.OP_WRITE);
        assertEquals(1, selector.select(10_000));
        assertTrue(key.isWritable());
        assertFalse(key.isReadable());
        assertFalse(key.isConnectable());
        assertFalse(key.isAcceptable());
    }

    @Test
    void shouldBeReadableWhenDataIsThereBeforeTheRegistration() throws IOException {
        Pair p = nonBlockingPair();
        p.server().write(text("early"));
        pause(20);
        Selector selector = selector();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        await(selector, key, SelectionKey.OP_READ);
        assertEquals("early", read(p.client(), 5));
    }

    @Test
    void shouldBecomeReadableDuringTheWait() throws Exception {
        Pair p = nonBlockingPair();
        Selector selector = selector();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        Future<Integer> waiting = blocked(() -> selector.select());
        p.server().write(text("late"));
        assertEquals(1, get(waiting));
        assertTrue(key.isReadable());
        assertEquals("late", read(p.client(), 4));
    }

    @Test
    void shouldStopBeingReadableWhenEverythingIsRead() throws IOException {
        Pair p = nonBlockingPair();
        Selector selector = selector();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        p.server().write(text("12"));
        await(selector, key, SelectionKey.OP_READ);
        assertEquals("12", read(p.client(), 2));
        selector.selectedKeys().clear();
        assertEquals(0, selector.select(30));
    }

    @Test
    void shouldBeReadableAtTheEndOfTheStream() throws IOException {
        Pair p = nonBlockingPair();
        Selector selector = selector();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        p.server().close();
        await(selector, key, SelectionKey.OP_READ);
        assertEquals(-1, p.client().read(bytes(1)));
        await(selector, key, SelectionKey.OP_READ);
        assertEquals(-1, p.client().read(bytes(1)));
    }

    @Test
    void shouldBeReadableWhenThePeerShutsItsOutput() throws Exception {
        Pair p = nonBlockingPair();
        Selector selector = selector();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        Future<?> waiting = blocked(() -> {
            await(selector, key, SelectionKey.OP_READ);
            return null;
        });
        p.server().shutdownOutput();
        get(waiting);
        assertEquals(-1, p.client().read(bytes(1)));
        p.client().write(text("still"));
        assertEquals("still", read(p.server(), 5));
    }

    @Test
    void shouldBeReadableWhenThePeerResets() throws Exception {
        Pair p = nonBlockingPair();
        Selector selector = selector();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        p.server().setOption(StandardSocketOptions.SO_LINGER, 0);
        p.server().close();
        await(selector, key, SelectionKey.OP_READ);
        IOException e = assertThrows(IOException.class, () -> p.client().read(bytes(1)));
        assertEquals("Connection reset", e.getMessage());
    }

    @Test
    void shouldBeReadableAfterItsInputWasShut() throws IOException {
        Pair p = nonBlockingPair();
        Selector selector = selector();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        selector.selectNow();
        p.client().shutdownInput();
        await(selector, key, SelectionKey.OP_READ);
        assertEquals(-1, p.client().read(bytes(1)));
    }

    @Test
    void shouldNotBeWritableWhileThePeerDoesNotRead() throws IOException {
        Pair p = nonBlockingPair();
        long sent = fill(p.client());
        assertTrue(sent > 0);
        Selector selector = selector();
        p.client().register(selector, SelectionKey.OP_WRITE);
        assertEquals(0, selector.select(50));
    }

    @Test
    void shouldBecomeWritableWhenThePeerReads() throws Exception {
        Pair p = nonBlockingPair();
        long sent = fill(p.client());
        Selector selector = selector();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_WRITE);
        Future<?> waiting = background(() -> await(selector, key, SelectionKey.OP_WRITE));
        p.server().configureBlocking(true);
        ByteBuffer b = ByteBuffer.allocate(1 << 16);
        for (long got = 0; got < sent; ) {
            b.clear();
            got += p.server().read(b);
        }
        get(waiting);
        assertTrue(p.client().write(bytes(10)) > 0);
    }

    @Test
    void shouldAcceptWithASelector() throws Exception {
        ServerSocketChannel listener = nonBlocking(listening());
        Selector selector = selector();
        SelectionKey key = listener.register(selector, SelectionKey.OP_ACCEPT);
        assertEquals(0, selector.selectNow());
        assertNull(listener.accept());
        SocketChannel client = open();
        client.connect(listener.getLocalAddress());
        await(selector, key, SelectionKey.OP_ACCEPT);
        assertTrue(key.isAcceptable());
        SocketChannel server = closing(listener.accept());
        assertTrue(server.isBlocking());
        assertTrue(server.isConnected());
        assertNull(listener.accept());
        selector.selectedKeys().clear();
        assertEquals(0, selector.selectNow());
    }

    @Test
    void shouldBecomeAcceptableDuringTheWait() throws Exception {
        ServerSocketChannel listener = nonBlocking(listening());
        Selector selector = selector();
        listener.register(selector, SelectionKey.OP_ACCEPT);
        Future<Integer> waiting = blocked(() -> selector.select());
        open().connect(listener.getLocalAddress());
        assertEquals(1, get(waiting));
        closing(listener.accept());
    }

    @Test
    void shouldStayAcceptableWhileConnectionsWait() throws Exception {
        ServerSocketChannel listener = nonBlocking(listening());
        Selector selector = selector();
        SelectionKey key = listener.register(selector, SelectionKey.OP_ACCEPT);
        for (int i = 0; i < 5; i++) {
            open().connect(listener.getLocalAddress());
        }
        for (int i = 0; i < 5; i++) {
            await(selector, key, SelectionKey.OP_ACCEPT);
            closing(listener.accept());
        }
        selector.selectedKeys().clear();
        assertEquals(0, selector.select(30));
    }

    @Test
    void shouldEchoThroughOneSelector() throws IOException {
        Selector selector = selector();
        ServerSocketChannel listener = nonBlocking(listening());
        listener.register(selector, SelectionKey.OP_ACCEPT);
        SocketChannel client = nonBlocking(open());
        client.connect(listener.getLocalAddress());
        client.register(selector, client.isConnected() ? SelectionKey.OP_WRITE : SelectionKey.OP_CONNECT);
        ByteBuffer out = bytes(300_000);
        ByteBuffer in = ByteBuffer.allocate(300_000);
        while (in.hasRemaining()) {
            selector.select(10_000);
            var keys = selector.selectedKeys().iterator();
            while (keys.hasNext()) {
                SelectionKey key = keys.next();
                keys.remove();
                if (key.isAcceptable()) {
                    nonBlocking(closing(listener.accept()))
                            .register(selector, SelectionKey.OP_READ, ByteBuffer.allocate(64 * 1024));
                } else if (key.isConnectable()) {
                    assertTrue(client.finishConnect());
                    key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
                } else if (key.channel() == client) {
                    if (key.isWritable()) {
                        client.write(out);
                        if (!out.hasRemaining()) {
                            key.interestOps(SelectionKey.OP_READ);
                        }
                    }
                    if (key.isReadable()) {
                        client.read(in);
                    }
                } else {
                    echo(key);
                }
            }
        }
        assertEquals(bytes(300_000), in.flip());
    }

    private static void echo(SelectionKey key) throws IOException {
        SocketChannel channel = (SocketChannel) key.channel();
        ByteBuffer b = (ByteBuffer) key.attachment();
        if (key.isReadable()) {
            channel.read(b);
        }
        b.flip();
        channel.write(b);
        b.compact();
        key.interestOps((b.hasRemaining() ? SelectionKey.OP_READ : 0) | (b.position() > 0 ? SelectionKey.OP_WRITE : 0));
    }

    @Tag("many")
    @Test
    void shouldServeManyConnectionsOfWhichFewAreActive() throws IOException {
        Selector selector = selector();
        List<Pair> pairs = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            Pair p = nonBlockingPair();
            p.client().register(selector, SelectionKey.OP_READ);
            pairs.add(p);
        }
        ThreadLocalRandom random = ThreadLocalRandom.current();
        for (int i = 0; i < 300; i++) {
            Pair p = pairs.get(random.nextInt(pairs.size()));
            p.server().write(text("m"));
            await(selector, p.client().keyFor(selector), SelectionKey.OP_READ);
            assertEquals("m", read(p.client(), 1));
        }
    }

    @Tag("many")
    @Test
    void shouldPlayPingPongThroughTwoSelectors() throws Exception {
        Pair p = nonBlockingPair();
        Future<?> other = background(() -> pong(p.server(), 2000));
        Selector selector = selector();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        for (int i = 0; i < 2000; i++) {
            p.client().write(text("p"));
            await(selector, key, SelectionKey.OP_READ);
            assertEquals("p", read(p.client(), 1));
        }
        get(other);
    }

    private void pong(SocketChannel channel, int rounds) throws IOException {
        try (Selector selector = kind().openSelector()) {
            SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
            for (int i = 0; i < rounds; i++) {
                await(selector, key, SelectionKey.OP_READ);
                read(channel, 1);
                channel.write(text("p"));
            }
        }
    }

    @Test
    void shouldNotMissDataThatComesInSlowly() throws Exception {
        Pair p = nonBlockingPair();
        Selector selector = selector();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        Future<?> sender = background(() -> {
            for (int i = 0; i < 100; i++) {
                pause(i % 7);
                p.server().write(text("s"));
            }
        });
        for (int got = 0; got < 100; ) {
            await(selector, key, SelectionKey.OP_READ);
            got += p.client().read(ByteBuffer.allocate(3));
        }
        get(sender);
    }

    @Test
    void shouldSeeDataThatAnotherThreadsWriteBroughtIn() throws Exception {
        Pair p = nonBlockingPair();
        Selector selector = selector();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        AtomicBoolean stop = new AtomicBoolean();
        Future<?> reading = background(() -> {
            ByteBuffer b = ByteBuffer.allocate(1 << 16);
            while (!stop.get()) {
                b.clear();
                p.server().read(b);
                Thread.yield();
            }
        });
        Future<?> writing = background(() -> {
            while (!stop.get()) {
                p.client().write(bytes(100)); // polls the same connection
                Thread.yield();
            }
        });
        for (int i = 0; i < 200; i++) {
            while (p.server().write(text("d")) == 0) {
                Thread.yield();
            }
            await(selector, key, SelectionKey.OP_READ);
            assertEquals("d", read(p.client(), 1));
        }
        stop.set(true);
        get(writing);
        get(reading);
    }

    // ---- other kinds of channels in the same selector ----

    @Test
    void shouldSelectDatagramChannels() throws IOException {
        Selector selector = selector();
        DatagramChannel receiver = nonBlocking(closing(kind().provider().openDatagramChannel()));
        receiver.bind(new InetSocketAddress("127.0.0.1", 0));
        SelectionKey key = receiver.register(selector, SelectionKey.OP_READ);
        assertEquals(0, selector.selectNow());
        DatagramChannel sender = closing(kind().provider().openDatagramChannel());
        sender.send(text("gram"), receiver.getLocalAddress());
        await(selector, key, SelectionKey.OP_READ);
        ByteBuffer b = ByteBuffer.allocate(10);
        receiver.receive(b);
        assertEquals(4, b.position());
        selector.selectedKeys().clear();
        assertEquals(0, selector.selectNow());
    }

    @Test
    void shouldSelectPipes() throws IOException {
        Selector selector = selector();
        Pipe pipe = kind().provider().openPipe();
        try (Pipe.SourceChannel source = pipe.source();
                Pipe.SinkChannel sink = pipe.sink()) {
            source.configureBlocking(false);
            sink.configureBlocking(false);
            SelectionKey in = source.register(selector, SelectionKey.OP_READ);
            SelectionKey out = sink.register(selector, SelectionKey.OP_WRITE);
            await(selector, out, SelectionKey.OP_WRITE);
            sink.write(text("pipe"));
            await(selector, in, SelectionKey.OP_READ);
        }
        selector.selectNow();
        assertTrue(selector.keys().isEmpty());
    }

    @Test
    void shouldWaitForAllKindsTogether() throws Exception {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        SelectionKey stream = p.client().register(selector, SelectionKey.OP_READ);
        DatagramChannel receiver = nonBlocking(closing(kind().provider().openDatagramChannel()));
        receiver.bind(new InetSocketAddress("127.0.0.1", 0));
        SelectionKey gram = receiver.register(selector, SelectionKey.OP_READ);
        DatagramChannel sender = closing(kind().provider().openDatagramChannel());
        for (int i = 0; i < 100; i++) {
            boolean datagram = i % 2 == 0;
            Future<?> waiting = background(() -> await(selector, datagram ? gram : stream, SelectionKey.OP_READ));
            if (i < 10) {
                pause(10);
            }
            if (datagram) {
                sender.send(text("x"), receiver.getLocalAddress());
                get(waiting);
                receiver.receive(ByteBuffer.allocate(5));
            } else {
                p.server().write(text("x"));
                get(waiting);
                read(p.client(), 1);
            }
        }
    }

    @Test
    void shouldNotStarveDatagramsWhileAStreamIsBusy() throws IOException {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        p.client().register(selector, SelectionKey.OP_WRITE);
        DatagramChannel receiver = nonBlocking(closing(kind().provider().openDatagramChannel()));
        receiver.bind(new InetSocketAddress("127.0.0.1", 0));
        SelectionKey gram = receiver.register(selector, SelectionKey.OP_READ);
        closing(kind().provider().openDatagramChannel()).send(text("x"), receiver.getLocalAddress());
        pause(20);
        int selections = 0;
        do {
            selector.selectedKeys().clear();
            selector.select();
            selections++;
        } while (!selector.selectedKeys().contains(gram));
        assertTrue(selections < 100, selections + " selections");
    }

    @Test
    void shouldBlockADatagramChannelAgainRightAfterACancel() throws IOException {
        Selector selector = selector();
        DatagramChannel channel = nonBlocking(closing(kind().provider().openDatagramChannel()));
        SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
        selector.selectNow();
        key.cancel();
        channel.configureBlocking(true);
        assertTrue(channel.isBlocking());
        selector.selectNow();
        assertFalse(channel.isRegistered());
    }

    @Test
    void shouldCloseADatagramChannelWhileRegistered() throws IOException {
        Selector selector = selector();
        DatagramChannel channel = nonBlocking(closing(kind().provider().openDatagramChannel()));
        channel.bind(new InetSocketAddress("127.0.0.1", 0));
        var address = channel.getLocalAddress();
        channel.register(selector, SelectionKey.OP_READ);
        selector.selectNow();
        channel.close();
        selector.selectNow();
        assertTrue(selector.keys().isEmpty());
        closing(kind().provider().openDatagramChannel()).bind(address);
    }

    @Test
    void shouldReportAnUnconnectedChannelAsThePlatformDoes() throws IOException {
        Selector selector = selector();
        SocketChannel client = nonBlocking(open());
        SelectionKey key = client.register(selector, SelectionKey.OP_CONNECT);
        selector.select(100);
        assertTrue(selector.selectedKeys().contains(key)); // Linux: EPOLLHUP
    }
}
