/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.Channel;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Threads that wait in channels: their turns, interrupts, closing under them; and listening and accepting. */
abstract class BlockingSuite extends NioSuite {

    private static void assertClosedByInterrupt(Failing f, Channel channel) throws InterruptedException {
        Throwable e = f.join();
        assertSame(ClosedByInterruptException.class, e == null ? null : e.getClass());
        assertTrue(f.interrupted);
        assertFalse(channel.isOpen());
    }

    private static void assertClosedAsynchronously(Failing f) throws InterruptedException {
        Throwable e = f.join();
        assertSame(AsynchronousCloseException.class, e == null ? null : e.getClass());
        assertFalse(f.interrupted);
    }

    // ---- reading and writing ----

    @Test
    void shouldWaitForData() throws Exception {
        Pair p = pair();
        Future<String> reader = blocked(() -> read(p.client(), 4));
        assertFalse(reader.isDone());
        p.server().write(text("data"));
        assertEquals("data", get(reader));
    }

    @Test
    void shouldCloseAReadingChannelByInterrupt() throws Exception {
        Pair p = pair();
        Failing f = new Failing(() -> p.client().read(bytes(1)));
        f.thread.interrupt();
        assertClosedByInterrupt(f, p.client());
        assertEquals(-1, p.server().read(bytes(1)));
    }

    /** As some thread classes do for sockets. Then both threads may close it at once. */
    private static final class ClosingReader extends Thread {
        private final SocketChannel channel;

        ClosingReader(SocketChannel channel) {
            this.channel = channel;
            setDaemon(true);
        }

        @Override
        public void interrupt() {
            super.interrupt();
            try {
                channel.shutdownOutput();
                channel.close();
            } catch (IOException e) {
                // the other thread has closed it
            }
        }

        @Override
        public void run() {
            try {
                while (channel.read(bytes(1000)) >= 0) {
                    // go on
                }
            } catch (IOException e) {
                // closed
            }
        }
    }

    @Test
    void shouldCloseWhereTheReadersOwnInterruptCloses() throws Exception {
        for (int round = 0; round < 100; round++) {
            Pair p = pair();
            ClosingReader reader = new ClosingReader(p.server());
            reader.start();
            Future<?> writer = background(() -> {
                while (true) {
                    p.client().write(bytes(100));
                }
            });
            pause(1 + round % 3);
            get(background(reader::interrupt));
            reader.join(30_000);
            assertFalse(reader.isAlive());
            assertThrows(IOException.class, () -> get(writer));
            p.client().close();
        }
    }

    @Test
    void shouldCloseAScatteringChannelByInterrupt() throws Exception {
        Pair p = pair();
        Failing f = new Failing(() -> p.client().read(new ByteBuffer[] {bytes(1), bytes(1)}));
        f.thread.interrupt();
        assertClosedByInterrupt(f, p.client());
    }

    @Test
    void shouldCloseByAnInterruptThatCameBeforeTheRead() throws Exception {
        Pair p = pair();
        Failing f = new Failing(() -> {
            Thread.currentThread().interrupt();
            p.client().read(bytes(1));
        });
        assertClosedByInterrupt(f, p.client());
    }

    @Test
    void shouldCloseByAnInterruptThatCameBeforeTheWrite() throws Exception {
        Pair p = pair();
        Failing f = new Failing(() -> {
            Thread.currentThread().interrupt();
            p.client().write(bytes(1));
        });
        assertClosedByInterrupt(f, p.client());
    }

    @Test
    void shouldCloseAWritingChannelByInterrupt() throws Exception {
        Pair p = pair();
        Failing f = new Failing(() -> {
            while (true) {
                p.client().write(bytes(1 << 20));
            }
        });
        pause(200);
        f.thread.interrupt();
        assertClosedByInterrupt(f, p.client());
    }

    @Test
    void shouldFailAReaderWhenClosedByAnother() throws Exception {
        Pair p = pair();
        Failing f = new Failing(() -> p.client().read(bytes(1)));
        p.client().close();
        assertClosedAsynchronously(f);
    }

    @Test
    void shouldFailAWriterWhenClosedByAnother() throws Exception {
        Pair p = pair();
        Failing f = new Failing(() -> {
            while (true) {
                p.client().write(bytes(1 << 20));
            }
        });
        pause(200);
        p.client().close();
        assertInstanceOf(ClosedChannelException.class, f.join()); // a write that had written something returned first
    }

    @Test
    void shouldFailReaderAndWriterTogether() throws Exception {
        Pair p = pair();
        Failing reader = new Failing(() -> p.client().read(bytes(1)));
        Failing writer = new Failing(() -> {
            while (true) {
                p.client().write(bytes(1 << 20));
            }
        });
        pause(150);
        p.client().close();
        assertInstanceOf(AsynchronousCloseException.class, reader.join());
        assertInstanceOf(ClosedChannelException.class, writer.join());
    }

    @Test
    void shouldFailTheOtherWaiterWhenOneIsInterrupted() throws Exception {
        Pair p = pair();
        Failing reader = new Failing(() -> p.client().read(bytes(1)));
        Failing writer = new Failing(() -> {
            while (true) {
                p.client().write(bytes(1 << 20));
            }
        });
        pause(150);
        writer.thread.interrupt();
        assertInstanceOf(ClosedByInterruptException.class, writer.join());
        assertInstanceOf(AsynchronousCloseException.class, reader.join());
    }

    @Test
    void shouldLetReadersTakeTurns() throws Exception {
        Pair p = pair();
        List<Future<Integer>> readers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            readers.add(blocked(() -> p.client().read(ByteBuffer.allocate(1))));
        }
        p.server().write(text("1234"));
        for (Future<Integer> reader : readers) {
            assertEquals(1, get(reader));
        }
    }

    @Test
    void shouldLetWritersTakeTurns() throws Exception {
        Pair p = pair();
        List<Future<?>> writers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            byte mark = (byte) i;
            writers.add(background(() -> {
                byte[] block = new byte[1000];
                Arrays.fill(block, mark);
                for (int n = 0; n < 50; n++) {
                    p.client().write(ByteBuffer.wrap(block));
                }
            }));
        }
        ByteBuffer in = ByteBuffer.allocate(1000);
        for (int n = 0; n < 200; n++) {
            in.clear();
            while (in.hasRemaining()) {
                p.server().read(in);
            }
            for (int i = 1; i < 1000; i++) {
                assertEquals(in.get(0), in.get(i), "a write is not torn");
            }
        }
        for (Future<?> writer : writers) {
            get(writer);
        }
    }

    @Test
    void shouldReadAndWriteAtTheSameTime() throws Exception {
        Pair p = pair();
        Future<Integer> reader = blocked(() -> p.client().read(ByteBuffer.allocate(1)));
        p.client().write(text("out"));
        assertEquals("out", read(p.server(), 3));
        p.server().write(text("i"));
        assertEquals(1, get(reader));
    }

    @Test
    void shouldBlockAndUnblockByTurns() throws IOException {
        Pair p = pair();
        for (int i = 0; i < 20; i++) {
            p.client().configureBlocking(false);
            assertEquals(0, p.client().read(bytes(1)));
            p.client().configureBlocking(true);
            p.server().write(text("t"));
            assertEquals("t", read(p.client(), 1));
        }
    }

    @Test
    void shouldNotDisturbANonBlockingChannelByInterrupts() throws Exception {
        Pair p = nonBlockingPair();
        get(background(() -> {
            Thread.currentThread().interrupt();
            assertEquals(0, p.client().read(bytes(1)));
            assertEquals(1, p.client().write(bytes(1)));
            assertTrue(Thread.interrupted());
        }));
        assertTrue(p.client().isOpen());
    }

    // ---- listening ----

    @Test
    void shouldBindToAPortOfItsChoice() throws IOException {
        ServerSocketChannel listener = openServer();
        assertNull(listener.getLocalAddress());
        assertSame(listener, listener.bind(anyPort()));
        assertTrue(((InetSocketAddress) listener.getLocalAddress()).getPort() > 0);
        assertEquals(SelectionKey.OP_ACCEPT, listener.validOps());
    }

    @Test
    void shouldBindToTheWildcard() throws IOException {
        ServerSocketChannel listener = openServer().bind(null, 10);
        InetSocketAddress local = (InetSocketAddress) listener.getLocalAddress();
        assertTrue(local.getAddress().isAnyLocalAddress());
        SocketChannel client = open();
        client.connect(new InetSocketAddress(kind().address(), local.getPort()));
        client.write(text("any"));
        assertEquals("any", read(closing(listener.accept()), 3));
    }

    @Test
    void shouldRefuseToBindAListenerTwice() throws IOException {
        ServerSocketChannel listener = listening();
        assertThrows(AlreadyBoundException.class, () -> listener.bind(anyPort()));
    }

    @Test
    void shouldRefuseToListenOnAPortInUse() throws IOException {
        ServerSocketChannel listener = listening();
        ServerSocketChannel second = openServer();
        BindException e = assertThrows(BindException.class, () -> second.bind(listener.getLocalAddress()));
        assertEquals("Address already in use", e.getMessage());
    }

    @Test
    void shouldListenAgainWhereAnotherClosed() throws IOException {
        SocketAddress address;
        try (ServerSocketChannel first = kind().provider().openServerSocketChannel()) {
            first.bind(anyPort());
            address = first.getLocalAddress();
        }
        ServerSocketChannel second = openServer().bind(address);
        pair(second);
    }

    @Test
    void shouldRefuseBadAddressesToListenOn() throws IOException {
        ServerSocketChannel listener = openServer();
        assertThrows(
                UnresolvedAddressException.class,
                () -> listener.bind(InetSocketAddress.createUnresolved("nowhere.invalid", 1)));
        assertThrows(UnsupportedAddressTypeException.class, () -> listener.bind(new SocketAddress() {}));
        listener.bind(anyPort());
    }

    @Test
    void shouldNotAcceptBeforeItIsBound() throws IOException {
        ServerSocketChannel listener = openServer();
        assertThrows(NotYetBoundException.class, listener::accept);
        listener.configureBlocking(false);
        assertThrows(NotYetBoundException.class, listener::accept);
    }

    @Test
    void shouldNotDoAnythingWithAClosedListener() throws IOException {
        ServerSocketChannel listener = listening();
        listener.close();
        listener.close();
        Class<?> told = Runtime.version().feature() < 24 // which tried, and found out only then
                ? AsynchronousCloseException.class
                : ClosedChannelException.class;
        assertSame(told, assertThrows(IOException.class, listener::accept).getClass());
        assertSame(
                told, assertThrows(IOException.class, listener.socket()::accept).getClass());
        assertThrows(ClosedChannelException.class, () -> listener.bind(anyPort()));
        assertThrows(ClosedChannelException.class, listener::getLocalAddress);
        assertThrows(ClosedChannelException.class, () -> listener.configureBlocking(false));
    }

    @Test
    void shouldRefuseConnectionsOnceClosed() throws IOException {
        ServerSocketChannel listener = listening();
        SocketAddress address = listener.getLocalAddress();
        listener.close();
        SocketChannel client = open();
        assertThrows(ConnectException.class, () -> client.connect(address));
    }

    @Test
    void shouldWaitForAConnection() throws Exception {
        ServerSocketChannel listener = listening();
        Future<SocketChannel> accepting = blocked(listener::accept);
        assertFalse(accepting.isDone());
        SocketChannel client = open();
        client.connect(listener.getLocalAddress());
        SocketChannel server = closing(get(accepting));
        assertTrue(server.isBlocking());
        assertEquals(client.getLocalAddress(), server.getRemoteAddress());
        assertSame(kind().provider(), server.provider());
    }

    @Test
    void shouldReturnNullWhenNobodyConnects() throws IOException {
        assertNull(nonBlocking(listening()).accept());
    }

    @Test
    void shouldCloseAnAcceptingChannelByInterrupt() throws Exception {
        ServerSocketChannel listener = listening();
        Failing f = new Failing(listener::accept);
        f.thread.interrupt();
        assertClosedByInterrupt(f, listener);
    }

    @Test
    void shouldCloseByAnInterruptThatCameBeforeTheAccept() throws Exception {
        ServerSocketChannel listener = listening();
        Failing f = new Failing(() -> {
            Thread.currentThread().interrupt();
            listener.accept();
        });
        assertClosedByInterrupt(f, listener);
    }

    @Test
    void shouldFailAnAcceptorWhenClosedByAnother() throws Exception {
        ServerSocketChannel listener = listening();
        Failing f = new Failing(listener::accept);
        listener.close();
        assertClosedAsynchronously(f);
    }

    @Test
    void shouldAcceptInOrderOfConnecting() throws IOException {
        ServerSocketChannel listener = listening();
        List<SocketAddress> clients = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            SocketChannel client = open();
            client.connect(listener.getLocalAddress());
            clients.add(client.getLocalAddress());
        }
        for (SocketAddress client : clients) {
            assertEquals(client, closing(listener.accept()).getRemoteAddress());
        }
    }

    @Test
    void shouldAcceptForManyThreads() throws Exception {
        ServerSocketChannel listener = listening();
        List<Future<SocketChannel>> acceptors = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            acceptors.add(background(listener::accept));
        }
        Set<SocketAddress> clients = new HashSet<>();
        for (int i = 0; i < 4; i++) {
            SocketChannel client = open();
            client.connect(listener.getLocalAddress());
            clients.add(client.getLocalAddress());
        }
        Set<SocketAddress> accepted = new HashSet<>();
        for (Future<SocketChannel> acceptor : acceptors) {
            accepted.add(closing(get(acceptor)).getRemoteAddress());
        }
        assertEquals(clients, accepted);
    }

    @Test
    void shouldAcceptByTurnsBlockingAndNot() throws IOException {
        ServerSocketChannel listener = listening();
        for (int i = 0; i < 6; i++) {
            listener.configureBlocking(false);
            assertNull(listener.accept());
            listener.configureBlocking(true);
            SocketChannel client = open();
            client.connect(listener.getLocalAddress());
            assertNotNull(closing(listener.accept()));
        }
    }

    @Test
    void shouldKeepConnectionsWhenTheListenerCloses() throws IOException {
        Pair p = pair();
        p.client().write(text("alive"));
        assertEquals("alive", read(p.server(), 5));
    }

    @Test
    void shouldDescribeAListener() throws IOException {
        ServerSocketChannel listener = openServer();
        listener.bind(anyPort());
        String bound = listener.toString(); // JDK 17 names the address, JDK 25 nothing
        assertTrue(
                bound.endsWith(":" + ((InetSocketAddress) listener.getLocalAddress()).getPort() + "]")
                        || bound.endsWith("[]"),
                bound);
        listener.close();
        assertTrue(listener.toString().endsWith("[closed]"), listener.toString());
    }
}
