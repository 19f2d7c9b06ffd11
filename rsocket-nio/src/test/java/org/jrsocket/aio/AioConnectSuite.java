/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AcceptPendingException;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.jrsocket.nio.SilentPort;
import org.junit.jupiter.api.Test;

/** Connecting, listening and accepting. */
abstract class AioConnectSuite extends AioSuite {

    @Test
    void shouldConnectAndAcceptWithFutures() throws Exception {
        Pair pair = pair();
        assertEquals(pair.client().getLocalAddress(), pair.server().getRemoteAddress());
        assertEquals(pair.client().getRemoteAddress(), pair.server().getLocalAddress());
        get(pair.client().write(text("there")));
        assertEquals("there", read(pair.server(), 5));
        get(pair.server().write(text("back")));
        assertEquals("back", read(pair.client(), 4));
    }

    @Test
    void shouldConnectAndAcceptWithHandlers() throws Exception {
        AsynchronousServerSocketChannel listener = listening();
        Told<AsynchronousSocketChannel> accepted = new Told<>();
        listener.accept("accept", accepted);
        AsynchronousSocketChannel client = open();
        Told<Void> connected = new Told<>();
        client.connect(listener.getLocalAddress(), "connect", connected);
        assertNull(connected.get());
        AsynchronousSocketChannel server = closing(accepted.get());
        assertEquals("connect", connected.attachment);
        assertEquals("accept", accepted.attachment);
        assertNotEquals(Thread.currentThread(), connected.by);
        assertNotEquals(Thread.currentThread(), accepted.by);
        kind().check(client);
        kind().check(server);
        assertSame(listener.provider(), server.provider());
    }

    @Test
    void shouldAcceptWhatConnectedBefore() throws Exception {
        AsynchronousServerSocketChannel listener = listening();
        for (int i = 0; i < 5; i++) {
            get(open().connect(listener.getLocalAddress()));
        }
        for (int i = 0; i < 5; i++) {
            Told<AsynchronousSocketChannel> accepted = new Told<>();
            listener.accept(null, accepted);
            closing(accepted.get());
        }
    }

    @Test
    void shouldAcceptAgainFromTheHandler() throws Exception {
        AsynchronousServerSocketChannel listener = listening();
        CompletableFuture<Integer> all = new CompletableFuture<>();
        acceptAgain(listener, 20, all);
        for (int i = 0; i < 20; i++) {
            get(open().connect(listener.getLocalAddress()));
        }
        assertEquals(0, get(all));
    }

    private void acceptAgain(AsynchronousServerSocketChannel listener, int left, CompletableFuture<Integer> all) {
        listener.accept(null, then(all, (AsynchronousSocketChannel accepted) -> {
            closing(accepted);
            if (left == 1) {
                all.complete(0);
            } else {
                acceptAgain(listener, left - 1, all);
            }
        }));
    }

    @Test
    void shouldTellOfARefusal() throws Exception {
        SocketAddress nobody = deadPort();
        AsynchronousSocketChannel client = open();
        assertEquals(
                "Connection refused",
                assertFails(ConnectException.class, client.connect(nobody)).getMessage());
        assertFalse(client.isOpen());
        AsynchronousSocketChannel other = open();
        CompletableFuture<Boolean> openThen = new CompletableFuture<>();
        other.connect(nobody, null, new CompletionHandler<Void, Object>() {
            @Override
            public void completed(Void result, Object attachment) {
                openThen.completeExceptionally(new AssertionError("connected"));
            }

            @Override
            public void failed(Throwable failure, Object attachment) {
                if (failure.getClass() == ConnectException.class) {
                    openThen.complete(other.isOpen());
                } else {
                    openThen.completeExceptionally(failure);
                }
            }
        });
        assertFalse(get(openThen), "the channel is closed when its handler hears of it");
    }

    @Test
    void shouldRefuseWhatIsNoAddress() throws Exception {
        AsynchronousSocketChannel client = open();
        assertThrows(NullPointerException.class, () -> client.connect(null));
        assertThrows(NullPointerException.class, () -> client.connect(anyPort(), null, null));
        assertThrows(UnsupportedAddressTypeException.class, () -> client.connect(new SocketAddress() {}));
        assertThrows(
                UnresolvedAddressException.class,
                () -> client.connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1)));
        assertThrows(UnsupportedAddressTypeException.class, () -> client.bind(new SocketAddress() {}));
        AsynchronousServerSocketChannel listener = openServer(null);
        assertThrows(UnsupportedAddressTypeException.class, () -> listener.bind(new SocketAddress() {}));
        assertThrows(
                UnresolvedAddressException.class,
                () -> listener.bind(InetSocketAddress.createUnresolved("nowhere.invalid", 1)));
        assertTrue(client.isOpen());
        assertTrue(listener.isOpen());
    }

    @Test
    void shouldConnectOnceOnly() throws Exception {
        AsynchronousServerSocketChannel listener = listening();
        AsynchronousSocketChannel client = open();
        get(client.connect(listener.getLocalAddress()));
        assertThrows(AlreadyConnectedException.class, () -> client.connect(listener.getLocalAddress()));
        assertThrows(AlreadyBoundException.class, () -> client.bind(null));
        AsynchronousSocketChannel server = closing(get(listener.accept()));
        assertThrows(AlreadyConnectedException.class, () -> server.connect(listener.getLocalAddress()));
    }

    @Test
    void shouldRefuseASecondConnectMeanwhile() throws Exception {
        AsynchronousServerSocketChannel listener = listening();
        AsynchronousSocketChannel client = open();
        Future<Void> connecting = client.connect(listener.getLocalAddress());
        Class<?> refused = assertThrows(IllegalStateException.class, () -> client.connect(listener.getLocalAddress()))
                .getClass();
        assertTrue(refused == ConnectionPendingException.class || refused == AlreadyConnectedException.class);
        get(connecting);
    }

    @Test
    void shouldBindBeforeItConnects() throws Exception {
        AsynchronousServerSocketChannel listener = listening();
        AsynchronousSocketChannel client = open();
        assertNull(client.getLocalAddress());
        assertNull(client.getRemoteAddress());
        assertSame(client, client.bind(anyPort()));
        InetSocketAddress bound = (InetSocketAddress) client.getLocalAddress();
        assertNotEquals(0, bound.getPort());
        assertThrows(AlreadyBoundException.class, () -> client.bind(anyPort()));
        get(client.connect(listener.getLocalAddress()));
        AsynchronousSocketChannel server = closing(get(listener.accept()));
        kind().check(client);
        assertEquals(bound, server.getRemoteAddress());
        assertEquals(bound, client.getLocalAddress());
        assertEquals(listener.getLocalAddress(), client.getRemoteAddress());
    }

    @Test
    void shouldListenOnAllAddresses() throws Exception {
        AsynchronousServerSocketChannel listener = openServer(null).bind(null);
        InetSocketAddress bound = (InetSocketAddress) listener.getLocalAddress();
        assertTrue(bound.getAddress().isAnyLocalAddress());
        for (InetAddress address : List.of(kind().address(), InetAddress.getByName("127.0.0.1"), kind().address())) {
            AsynchronousSocketChannel client = open();
            get(client.connect(new InetSocketAddress(address, bound.getPort())));
            AsynchronousSocketChannel server = closing(get(listener.accept()));
            get(client.write(text("hello")));
            assertEquals("hello", read(server, 5));
            assertEquals(address, ((InetSocketAddress) server.getLocalAddress()).getAddress());
        }
    }

    @Test
    void shouldRefuseToAcceptUnbound() throws Exception {
        AsynchronousServerSocketChannel listener = openServer(null);
        assertNull(listener.getLocalAddress());
        assertThrows(NotYetBoundException.class, listener::accept);
        assertThrows(NullPointerException.class, () -> listener.accept(null, null));
        listener.bind(anyPort());
        assertThrows(AlreadyBoundException.class, () -> listener.bind(anyPort()));
    }

    @Test
    void shouldRefuseASecondAcceptMeanwhile() throws Exception {
        AsynchronousServerSocketChannel listener = listening();
        Future<AsynchronousSocketChannel> accepting = listener.accept();
        assertThrows(AcceptPendingException.class, listener::accept);
        assertThrows(AcceptPendingException.class, () -> listener.accept(null, new Told<>()));
        get(open().connect(listener.getLocalAddress()));
        closing(get(accepting));
        assertFalse(listener.accept().isDone());
    }

    @Test
    void shouldAcceptNoMoreAfterACancel() throws Exception {
        AsynchronousServerSocketChannel listener = listening();
        Future<AsynchronousSocketChannel> accepting = listener.accept();
        assertTrue(accepting.cancel(false));
        assertTrue(accepting.isCancelled());
        assertTrue(accepting.isDone());
        assertFalse(accepting.cancel(true));
        assertTrue(listener.isOpen());
        assertEquals(
                "Accept not allowed due cancellation",
                assertThrows(RuntimeException.class, listener::accept).getMessage());
    }

    @Test
    void shouldCloseWhenACancelInterrupts() throws Exception {
        AsynchronousServerSocketChannel listener = listening();
        assertTrue(listener.accept().cancel(true));
        assertFalse(listener.isOpen());
    }

    @Test
    void shouldFailAnAcceptThatWaitsWhenItIsClosed() throws Exception {
        AsynchronousServerSocketChannel listener = listening();
        Future<AsynchronousSocketChannel> accepting = listener.accept();
        listener.close();
        assertFails(AsynchronousCloseException.class, accepting);
        AsynchronousServerSocketChannel other = listening();
        Told<AsynchronousSocketChannel> told = new Told<>();
        other.accept("closed", told);
        other.close();
        assertFails(AsynchronousCloseException.class, told.outcome);
        assertEquals("closed", told.attachment);
        other.close();
    }

    @Test
    void shouldRefuseWhatComesAfterTheClose() throws Exception {
        AsynchronousServerSocketChannel listener = listening();
        SocketAddress address = listener.getLocalAddress();
        listener.close();
        assertFails(ClosedChannelException.class, listener.accept());
        Told<AsynchronousSocketChannel> told = new Told<>();
        listener.accept(null, told);
        assertFails(ClosedChannelException.class, told.outcome);
        assertThrows(ClosedChannelException.class, listener::getLocalAddress);
        assertThrows(ClosedChannelException.class, () -> listener.bind(null));
        AsynchronousSocketChannel client = open();
        client.close();
        client.close();
        assertFails(ClosedChannelException.class, client.connect(address));
        Told<Void> connecting = new Told<>();
        client.connect(address, null, connecting);
        assertFails(ClosedChannelException.class, connecting.outcome);
        assertThrows(ClosedChannelException.class, client::getLocalAddress);
        assertThrows(ClosedChannelException.class, client::getRemoteAddress);
        assertThrows(ClosedChannelException.class, () -> client.bind(null));
    }

    @Test
    void shouldFreeThePortWhenItIsClosed() throws Exception {
        for (int i = 0; i < 10; i++) {
            AsynchronousServerSocketChannel listener = listening();
            SocketAddress address = listener.getLocalAddress();
            Future<AsynchronousSocketChannel> accepting = listener.accept(); // now the selector knows it
            listener.close();
            assertFails(AsynchronousCloseException.class, accepting);
            assertFails(ConnectException.class, open().connect(address));
            openServer(null).bind(address).close();
        }
    }

    @Test
    void shouldFailAConnectThatWaitsWhenItIsClosed() throws Exception {
        InetSocketAddress nobody = SilentPort.address();
        kind().silence(nobody);
        AsynchronousSocketChannel client = open();
        Told<Void> told = new Told<>();
        client.connect(nobody, "waits", told);
        assertFalse(told.outcome.isDone());
        client.close();
        assertFails(AsynchronousCloseException.class, told.outcome);
        assertEquals("waits", told.attachment);
    }
}
