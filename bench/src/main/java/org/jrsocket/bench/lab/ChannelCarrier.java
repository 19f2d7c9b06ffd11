/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * {@code SocketChannel}, on TCP or whatever an agent makes of it: blocking, or non-blocking with a selector of each
 * connection's own, which waits whenever a read or a write did nothing.
 */
final class ChannelCarrier implements Carrier {

    private static final class BlockingWire implements Wire {
        private final SocketChannel channel;

        BlockingWire(SocketChannel channel) throws IOException {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            this.channel = channel;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            return channel.read(ByteBuffer.wrap(target, offset, length));
        }

        @Override
        public void write(byte[] source, int length) throws IOException {
            ByteBuffer buffer = ByteBuffer.wrap(source, 0, length);
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    private static final class SelectorWire implements Wire {
        private final SocketChannel channel;
        private final Selector selector;
        private final SelectionKey key;

        SelectorWire(SocketChannel channel) throws IOException {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.configureBlocking(false);
            this.channel = channel;
            this.selector = channel.provider().openSelector();
            this.key = channel.register(selector, SelectionKey.OP_READ);
        }

        private void await() throws IOException {
            selector.select();
            if (!channel.isOpen() || !selector.isOpen()) {
                throw new IOException("closed while waiting");
            }
            selector.selectedKeys().clear();
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            ByteBuffer buffer = ByteBuffer.wrap(target, offset, length);
            for (; ; ) {
                int n = channel.read(buffer);
                if (n != 0 || length == 0) {
                    return n;
                }
                await();
            }
        }

        @Override
        public void write(byte[] source, int length) throws IOException {
            ByteBuffer buffer = ByteBuffer.wrap(source, 0, length);
            channel.write(buffer);
            if (buffer.hasRemaining()) {
                key.interestOps(SelectionKey.OP_WRITE);
                while (buffer.hasRemaining()) {
                    if (channel.write(buffer) == 0) {
                        await();
                    }
                }
                key.interestOps(SelectionKey.OP_READ);
            }
        }

        @Override
        public void close() throws IOException {
            channel.close();
            selector.close();
        }
    }

    private final boolean selecting;

    ChannelCarrier(boolean selecting) {
        this.selecting = selecting;
    }

    private Wire wire(SocketChannel channel) throws IOException {
        return selecting ? new SelectorWire(channel) : new BlockingWire(channel);
    }

    @Override
    public Wire connect(InetSocketAddress to, boolean spinning) throws IOException {
        return wire(SocketChannel.open(to));
    }

    @Override
    public Acceptor listen(InetSocketAddress at, boolean spinning) throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        server.bind(at, 128);
        return () -> wire(server.accept());
    }
}
