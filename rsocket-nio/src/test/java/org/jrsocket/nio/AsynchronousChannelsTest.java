/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Asynchronous channels are TCP, and never where a rule demands RDMA. */
@Timeout(60)
class AsynchronousChannelsTest {

    private RAsynchronousChannelProvider provider;

    @BeforeEach
    void open() throws Exception {
        TransportHolder none = TransportHolder.unavailable(
                new VerbsUnavailableException(VerbsUnavailableException.Reason.NO_DEVICE, "no RDMA device", null));
        provider = new RAsynchronousChannelProvider(new TransportContext(
                Settings.read("policy=auto,connect.timeout=50s", new Properties(), Map.of()),
                NioKind.rules("connect 127.0.0.2 * rdma\nbind 127.0.0.2 * rdma\n"),
                none));
    }

    @Test
    void shouldCarryTcpWhereNoRuleDemandsRdma() throws Exception {
        try (AsynchronousServerSocketChannel listener =
                        provider.openAsynchronousServerSocketChannel(null).bind(new InetSocketAddress("127.0.0.1", 0));
                AsynchronousSocketChannel client = provider.openAsynchronousSocketChannel(null)) {
            var accepting = listener.accept();
            client.connect(listener.getLocalAddress()).get(30, TimeUnit.SECONDS);
            try (AsynchronousSocketChannel server = accepting.get(30, TimeUnit.SECONDS)) {
                assertEquals(4, client.write(ByteBuffer.wrap(new byte[4])).get(30, TimeUnit.SECONDS));
                assertEquals(4, server.read(ByteBuffer.allocate(10)).get(30, TimeUnit.SECONDS));
                assertEquals(client.getLocalAddress(), server.getRemoteAddress());
            }
        }
    }

    @Test
    void shouldRefuseToConnectWhereARuleDemandsRdma() throws Exception {
        try (AsynchronousSocketChannel client = provider.openAsynchronousSocketChannel(null)) {
            var connecting = client.connect(new InetSocketAddress("127.0.0.2", 1));
            assertInstanceOf(
                    ConnectException.class,
                    assertThrows(ExecutionException.class, connecting::get).getCause());
            assertFalse(client.isOpen());
        }
        CompletableFuture<Throwable> told = new CompletableFuture<>();
        try (AsynchronousSocketChannel client = provider.openAsynchronousSocketChannel(null)) {
            client.connect(new InetSocketAddress("127.0.0.2", 1), null, new CompletionHandler<Void, Void>() {
                @Override
                public void completed(Void result, Void attachment) {
                    told.complete(null);
                }

                @Override
                public void failed(Throwable failure, Void attachment) {
                    told.complete(failure);
                }
            });
            assertInstanceOf(ConnectException.class, told.get(30, TimeUnit.SECONDS));
        }
    }

    @Test
    void shouldRefuseToListenWhereARuleDemandsRdma() throws Exception {
        try (AsynchronousServerSocketChannel listener = provider.openAsynchronousServerSocketChannel(null)) {
            assertThrows(SocketException.class, () -> listener.bind(new InetSocketAddress("127.0.0.2", 0)));
        }
    }
}
