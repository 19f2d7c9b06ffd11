/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks.traffic;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;

/** {@code java.nio}: one selector, one thread. */
final class NioKind implements Kind {

    private static final int BACKLOG = 100;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(Flow.PAUSE_MILLIS);

    /** What a key has to do when its channel is ready. */
    private interface Member {
        void ready(SelectionKey key) throws IOException;

        /** Every few milliseconds. */
        default void tick(SelectionKey key) throws IOException {}

        void failed(IOException e);
    }

    private final Selector selector = Selector.open();
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

    NioKind() throws IOException {
        Thread thread = new Thread(this::run, "nio");
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        for (; ; ) {
            try {
                selector.select(Flow.PAUSE_MILLIS);
                selector.selectedKeys().clear();
                for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                    task.run();
                }
                selector.keys().forEach(NioKind::serve);
            } catch (IOException | RuntimeException | LinkageError e) { // a class may lack a descriptor to be read by
                System.err.println("nio: selecting failed: " + Flow.withCauses(e));
            }
        }
    }

    private static void serve(SelectionKey key) {
        Member member = (Member) key.attachment();
        try {
            if (key.isValid() && key.readyOps() != 0) {
                member.ready(key);
            }
            if (key.isValid()) {
                member.tick(key);
            }
        } catch (IOException e) {
            member.failed(e);
            close(key);
        }
    }

    private static void close(SelectionKey key) {
        try {
            key.channel().close();
        } catch (IOException e) {
            System.err.println("nio: closing failed: " + e);
        }
    }

    private void execute(Runnable task) {
        tasks.add(task);
        selector.wakeup();
    }

    @Override
    public int serve(InetSocketAddress address) throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        server.socket().setReuseAddress(true);
        server.bind(address, BACKLOG);
        server.configureBlocking(false);
        execute(() -> register(server, SelectionKey.OP_ACCEPT, new Acceptor(server)));
        return ((InetSocketAddress) server.getLocalAddress()).getPort();
    }

    private void register(SelectableChannel channel, int interest, Member member) {
        try {
            channel.register(selector, interest, member);
        } catch (IOException e) {
            member.failed(e);
        }
    }

    private final class Acceptor implements Member {
        private final ServerSocketChannel server;

        Acceptor(ServerSocketChannel server) {
            this.server = server;
        }

        @Override
        public void ready(SelectionKey key) {
            try {
                SocketChannel channel = server.accept();
                if (channel != null) {
                    channel.configureBlocking(false);
                    keepAlive(channel);
                    execute(() -> register(channel, SelectionKey.OP_READ, new Echo(channel)));
                }
            } catch (IOException e) {
                failed(e);
            }
        }

        @Override
        public void failed(IOException e) {
            System.err.println("nio: accepting failed, and is tried again: " + e);
        }
    }

    private static final class Echo implements Member {
        private final SocketChannel channel;
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(Flow.MOST);
        private boolean ended;

        Echo(SocketChannel channel) {
            this.channel = channel;
        }

        @Override
        public void ready(SelectionKey key) throws IOException {
            if (!ended && channel.read(buffer) < 0) {
                ended = true;
            }
            buffer.flip();
            channel.write(buffer);
            buffer.compact();
            boolean left = buffer.position() > 0;
            if (ended && !left) {
                channel.close();
                return;
            }
            key.interestOps(
                    (left ? SelectionKey.OP_WRITE : 0) | (ended || !buffer.hasRemaining() ? 0 : SelectionKey.OP_READ));
        }

        @Override
        public void failed(IOException e) {
            System.err.println("nio: " + Flow.withCauses(e));
        }
    }

    private static void keepAlive(SocketChannel channel) throws IOException {
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, Flow.IDLE_SECONDS);
        channel.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, Flow.IDLE_SECONDS);
        channel.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, Flow.IDLE_COUNT);
    }

    @Override
    public void connect(InetSocketAddress server, Flow flow) throws IOException {
        SocketChannel channel = SocketChannel.open();
        channel.configureBlocking(false);
        keepAlive(channel);
        boolean connected;
        try {
            connected = channel.connect(server);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
        Client client = new Client(channel, flow, connected);
        int interest = connected ? SelectionKey.OP_READ : SelectionKey.OP_CONNECT;
        execute(() -> register(channel, interest, client));
    }

    private static final class Client implements Member {
        private final SocketChannel channel;
        private final Flow flow;
        private final ByteBuffer out = ByteBuffer.allocateDirect(Flow.MOST).flip();
        private final ByteBuffer in = ByteBuffer.allocateDirect(Flow.MOST);
        private boolean connected;
        private boolean shut;
        private long began = System.nanoTime();

        Client(SocketChannel channel, Flow flow, boolean connected) {
            this.channel = channel;
            this.flow = flow;
            this.connected = connected;
            if (connected) {
                flow.opened();
            }
        }

        @Override
        public void ready(SelectionKey key) throws IOException {
            if (!connected) {
                if (!channel.finishConnect()) {
                    return;
                }
                connected = true;
                flow.opened();
                key.interestOps(SelectionKey.OP_READ);
                return;
            }
            for (int n = channel.read(in.clear()); n != 0; n = channel.read(in.clear())) {
                if (n < 0) {
                    flow.ended();
                    channel.close();
                    return;
                }
                if (!flow.check(in.flip())) {
                    channel.close();
                    return;
                }
            }
            write(key);
        }

        @Override
        public void tick(SelectionKey key) throws IOException {
            long now = System.nanoTime();
            if (!connected || shut || !flow.isQuiet() || now - began < PAUSE_NANOS) {
                return;
            }
            began = now;
            if (flow.begin()) {
                out.clear();
                flow.take(out);
                out.flip();
                write(key);
            } else {
                shut = true;
                channel.shutdownOutput();
            }
        }

        private void write(SelectionKey key) throws IOException {
            if (out.hasRemaining()) { // after a shutdown not even nothing may be written
                channel.write(out);
            }
            key.interestOps(SelectionKey.OP_READ | (out.hasRemaining() ? SelectionKey.OP_WRITE : 0));
        }

        @Override
        public void failed(IOException e) {
            flow.failed(e);
        }
    }
}
