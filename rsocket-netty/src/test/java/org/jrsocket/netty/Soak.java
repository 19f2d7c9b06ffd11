/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.SocketAddress;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * Many connections at once, one after the other in each of so many places. Each has a plan, drawn from its number: what
 * both ends send, in pieces of which sizes, and how it ends.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a conversation that does not end is found
final class Soak {

    /** Of the first conversations, at a time. */
    private static final int CONNECTS = 16;

    private final EventLoopGroup loops;
    private final ChannelFactory<RdmaSocketChannel> clients;
    private final long seed;
    private final int places;
    private final int largest;
    private final BooleanSupplier goOn;
    private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final Map<Long, SoakConversation> conversations = new ConcurrentHashMap<>();
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private final AtomicLong started = new AtomicLong();
    private final CountDownLatch ended;
    private SocketAddress server;
    private volatile boolean full;

    final AtomicLong verified = new AtomicLong(); // bytes
    final AtomicLong kept = new AtomicLong(); // buffers that ends will give back
    final AtomicLong orderly = new AtomicLong(); // conversations that came to their end

    /**
     * @param places conversations at a time
     * @param largest bytes of one direction
     * @param goOn whether to begin another one; asked by event loops
     */
    Soak(
            EventLoopGroup loops,
            ChannelFactory<RdmaSocketChannel> clients,
            long seed,
            int places,
            int largest,
            BooleanSupplier goOn) {
        this.loops = loops;
        this.clients = clients;
        this.seed = seed;
        this.places = places;
        this.largest = largest;
        this.goOn = goOn;
        this.ended = new CountDownLatch(places);
    }

    void run(ChannelFactory<RdmaServerSocketChannel> servers, SocketAddress address) throws Exception {
        Channel listening = new ServerBootstrap()
                .group(loops)
                .channelFactory(servers)
                .option(ChannelOption.SO_BACKLOG, 1024)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channels.add(channel);
                        channel.pipeline().addLast(new SoakEnd(Soak.this, null));
                    }
                })
                .bind(address)
                .sync()
                .channel();
        server = listening.localAddress();
        // All at once are another matter: a listener may be too busy for them. One at a time takes minutes, when the
        // event loops are busy with those that there are.
        Semaphore connects = new Semaphore(CONNECTS);
        for (int i = 0; i < places; i++) {
            connects.acquire();
            ChannelFuture connecting = begin();
            if (connecting == null) {
                connects.release();
            } else {
                connecting.addListener(done -> connects.release());
            }
        }
        full = true;
        awaitEnd();
        listening.close().sync();
    }

    /** Returns null if there is to be no other one. */
    private ChannelFuture begin() {
        if (!goOn.getAsBoolean() || !failures.isEmpty()) {
            ended.countDown();
            return null;
        }
        long id = started.incrementAndGet();
        SoakConversation conversation = new SoakConversation(id, new Random(seed + id), largest);
        conversations.put(id, conversation);
        ChannelFuture connecting = new Bootstrap()
                .group(loops)
                .channelFactory(clients)
                .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channels.add(channel);
                        channel.pipeline().addLast(new SoakEnd(Soak.this, conversation));
                    }
                })
                .connect(server);
        connecting.addListener(done -> {
            if (!done.isSuccess()) {
                fail(new AssertionError(conversation + " could not connect", done.cause()));
                endOf(conversation);
            }
        });
        return connecting;
    }

    /**
     * By the event loop of the end that closes last; by the client's if it is not to be known whether that is the last.
     */
    void endOf(SoakConversation conversation) {
        if (conversations.remove(conversation.id()) == null) {
            return;
        }
        if (conversation.isOrderly()) {
            orderly.incrementAndGet();
        }
        loops.execute(this::begin);
    }

    /** Whether there is a conversation in each place; before, memory grows with their number. */
    boolean isFull() {
        return full;
    }

    SoakConversation conversation(long id) {
        return conversations.get(id);
    }

    void fail(Throwable failure) {
        failures.add(failure);
    }

    private void awaitEnd() throws Exception {
        long seen = -1;
        long since = System.nanoTime();
        while (!ended.await(1, TimeUnit.SECONDS) && failures.isEmpty()) {
            long now = verified.get() + started.get();
            if (now != seen) {
                seen = now;
                since = System.nanoTime();
            } else if (System.nanoTime() - since > TimeUnit.SECONDS.toNanos(ChannelTests.PATIENCE)) {
                throw new AssertionError("nothing goes on: " + conversations.values() + ", " + channels);
            }
        }
        if (!failures.isEmpty()) {
            AssertionError error = new AssertionError(failures.size() + " failures after " + this);
            failures.forEach(error::addSuppressed);
            throw error;
        }
        ChannelTests.await(channels::isEmpty, () -> "still open: " + channels);
        ChannelTests.await(() -> kept.get() == 0, () -> kept + " buffers are kept");
    }

    @Override
    public String toString() {
        return started + " conversations, " + orderly + " of them to their end, " + verified + " bytes verified";
    }
}
