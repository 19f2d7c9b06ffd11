/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.util.ReferenceCounted;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jrsocket.testkit.programs.World;

/**
 * The channels of one run of a random program, on two event loops: a server, a connection to it, and what the program
 * adds. After each step it waits until nothing happens any more, and tells what has happened.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails shows in what channels hear
final class NettyWorld extends World {

    /** What is compared. */
    interface Transport {
        IoHandlerFactory newHandlerFactory();

        Channel newChannel();

        ServerChannel newServerChannel();

        /** For each channel that is connected or accepted. */
        default void check(Channel connected) {}

        /** Where its servers listen. */
        default InetAddress address() {
            return InetAddress.getLoopbackAddress();
        }

        /** For each channel that is accepted. */
        default void configure(Channel accepted) {}
    }

    private static final int MOST_SECONDS = 20;
    private static final Pattern PORT = Pattern.compile(":(\\d+)(?=$|[^\\d.:])");
    private static final Pattern IDENTITY = Pattern.compile("0x[0-9a-f]+|@[0-9a-f]+");

    final Transport transport;
    final EventLoopGroup loops;
    private final List<ProgramChannel> channels = new CopyOnWriteArrayList<>();
    private final List<ChannelFuture> futures = new CopyOnWriteArrayList<>();
    private final List<ReferenceCounted> messages = new CopyOnWriteArrayList<>();
    private final List<ReferenceCounted> lendable = new CopyOnWriteArrayList<>();
    private final Map<String, Integer> ports = new HashMap<>(); // the program's thread's
    private final AtomicInteger changes = new AtomicInteger();
    private final AtomicInteger accepted = new AtomicInteger();
    private final AtomicInteger written = new AtomicInteger();
    private final AtomicInteger heldBack = new AtomicInteger();
    private final List<EventLoop> each = new ArrayList<>();
    private final Thread thread = Thread.currentThread();
    private int opened;

    NettyWorld(Transport transport) throws Exception {
        this.transport = transport;
        loops = new MultiThreadIoEventLoopGroup(
                2, new DefaultThreadFactory("program", true), transport.newHandlerFactory());
        loops.forEach(loop -> each.add((EventLoop) loop));
        ProgramChannel server = open(true);
        each.get(0).register(server.channel).sync();
        server.channel.bind(new InetSocketAddress(transport.address(), 0)).sync();
        openConnected();
    }

    // ---- what it has ----

    ProgramChannel open(boolean server) {
        String name = (server ? "S" : "C") + ++opened;
        ProgramChannel one =
                new ProgramChannel(this, name, server ? transport.newServerChannel() : transport.newChannel());
        channels.add(one);
        return one;
    }

    /** A client whose peer is accepted, if there is a server. */
    ProgramChannel openConnected() throws Exception {
        ProgramChannel client = open(false);
        each.get(0).register(client.channel).sync();
        int before = accepted.get();
        ChannelFuture connected = client.channel.connect(serverAddress());
        if (connected.await(MOST_SECONDS, TimeUnit.SECONDS) && connected.isSuccess()) {
            transport.check(client.channel);
            awaitAccepted(before);
        }
        settle();
        return client;
    }

    /** A device's connection manager tells the server later than the client. */
    private void awaitAccepted(int before) throws InterruptedException {
        Channel server = channels.get(0).channel;
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
        while (accepted.get() == before
                && server.isActive()
                && server.config().isAutoRead()
                && System.nanoTime() - deadline < 0) {
            Thread.sleep(1);
        }
    }

    /** An accepted connection; in the server's event loop. */
    String accepted(Channel child) {
        ProgramChannel one = new ProgramChannel(this, "A" + accepted.incrementAndGet(), child);
        channels.add(one);
        transport.configure(child);
        if (heldBack.get() == 0) {
            each.get(0).register(child);
        } else {
            heldBack.decrementAndGet();
        }
        return one.name;
    }

    EventLoop loop(Random chance) {
        return each.get(chance.nextInt(4) == 0 ? 1 : 0);
    }

    InetSocketAddress serverAddress() {
        return (InetSocketAddress) channels.get(0).channel.localAddress();
    }

    /** Mostly one that is open. */
    ProgramChannel any(Random chance) {
        List<ProgramChannel> all = new ArrayList<>(channels);
        if (chance.nextInt(5) > 0) {
            all.removeIf(one -> !one.channel.isOpen());
        }
        if (all.isEmpty()) {
            return channels.get(0);
        }
        all.sort((one, other) -> one.name.compareTo(other.name));
        return all.get(chance.nextInt(all.size()));
    }

    /** Leaves what is accepted next to the program, which may register it. */
    void holdNext() {
        heldBack.incrementAndGet();
    }

    /** What a channel is, or was, connected to; null if nothing. */
    ProgramChannel peerOf(ProgramChannel one) {
        return channels.stream().filter(one::isPeerOf).findFirst().orElse(null);
    }

    boolean isProgramsThread() {
        return Thread.currentThread() == thread;
    }

    /** The future of a call in the program's own thread. */
    String add(ChannelFuture future) {
        futures.add(future);
        return "p" + (futures.size() - 1);
    }

    /** Of this channel, or of the program's own thread; null if there is none. */
    ChannelFuture anyFuture(ProgramChannel of, Random chance) {
        List<ChannelFuture> some = chance.nextBoolean() ? of.futures : futures;
        return some.isEmpty() ? null : some.get(chance.nextInt(some.size()));
    }

    /**
     * Retains a message, so that it shows how often it is released.
     *
     * @param lent whether it may be lent, and then be released some time after it was written
     */
    <T extends ReferenceCounted> T watch(T message, boolean lent) {
        message.retain();
        (lent ? lendable : messages).add(message);
        return message;
    }

    /** Where the next bytes of this run begin in the pattern. */
    int next(int bytes) {
        return written.getAndAdd(bytes);
    }

    // ---- what happens ----

    void changed() {
        changes.incrementAndGet();
    }

    /** Runs it in the channel's event loop, or in this thread. */
    String call(ProgramChannel on, boolean inLoop, Callable<String> action) throws Exception {
        if (!inLoop || !on.channel.isRegistered()) {
            return outcome(action);
        }
        return on.channel.eventLoop().submit(() -> outcome(action)).get(MOST_SECONDS, TimeUnit.SECONDS);
    }

    /** Waits until nothing happens any more. */
    void settle() throws InterruptedException {
        long quiet = TimeUnit.MILLISECONDS.toNanos(patience()) / 5;
        long start = System.nanoTime();
        long since = start;
        int seen = changes.get();
        for (int rounds = 0; rounds < 4 || System.nanoTime() - since < quiet; rounds++) {
            for (EventLoop loop : each) {
                pass(loop);
            }
            Thread.sleep(0, 100_000);
            int now = changes.get();
            if (now != seen || channels.stream().anyMatch(ProgramChannel::isLingering)) {
                seen = now;
                rounds = 0;
                since = System.nanoTime();
            }
            if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(MOST_SECONDS)) {
                throw new IllegalStateException("it never rests: " + news());
            }
        }
    }

    private static void pass(EventLoop loop) throws InterruptedException {
        try {
            loop.submit(() -> {}).await(MOST_SECONDS, TimeUnit.SECONDS);
        } catch (RejectedExecutionException e) {
            loop.terminationFuture().await(MOST_SECONDS, TimeUnit.SECONDS);
        }
    }

    /** What has happened since it was last asked. */
    String news() {
        StringBuilder text = new StringBuilder();
        for (ProgramChannel one : channels) {
            text.append(one.news());
        }
        int kept = 0;
        for (ReferenceCounted message : messages) {
            kept += message.refCnt() - 1;
        }
        return masked(text + (kept == 0 ? "" : " kept " + kept));
    }

    /** Without what no two runs have in common. */
    String masked(String text) {
        Matcher port = PORT.matcher(text);
        String masked = port.replaceAll(found -> ":P"
                + (found.group(1).length() < 4
                        ? found.group(1)
                        : ports.computeIfAbsent(found.group(1), unused -> ports.size())));
        return IDENTITY.matcher(masked)
                .replaceAll("ID")
                .replace("org.jrsocket.netty.Rdma", "io.netty.channel.socket.nio.Nio")
                .replaceAll("Rdma(Server)?SocketChannel", "Nio$1SocketChannel");
    }

    static String outcome(Callable<String> call) {
        try {
            return String.valueOf(call.call());
        } catch (Throwable e) {
            return text(e);
        }
    }

    /** With the cause where it is Netty that gives one; ours may say more than the JDK does. */
    static String text(Throwable e) {
        boolean caused = e.getCause() != null && e.getClass().getName().startsWith("io.netty.");
        return nameOf(e) + (caused ? " by " + nameOf(e.getCause()) : "");
    }

    static String state(Future<?> future) {
        return !future.isDone() ? "not yet" : future.cause() == null ? "ok" : text(future.cause());
    }

    // ---- the end ----

    @Override
    public void close() {
        for (ProgramChannel one : channels) {
            try {
                try {
                    if (one.channel.isRegistered()) {
                        one.channel.close().await(MOST_SECONDS, TimeUnit.SECONDS);
                    } else {
                        one.channel.unsafe().closeForcibly();
                    }
                } catch (RejectedExecutionException e) {
                    one.channel.unsafe().closeForcibly();
                }
                settle(); // its peer sees it before it is closed, too
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @Override
    protected String remains() throws InterruptedException {
        settle();
        String text = news();
        for (ProgramChannel one : channels) {
            for (ChannelFuture future : one.futures) {
                text += future.isDone() ? "" : " " + one.name + " f" + one.futures.indexOf(future) + " is not done";
            }
        }
        for (ChannelFuture future : futures) {
            text += future.isDone() ? "" : " p" + futures.indexOf(future) + " is not done";
        }
        loops.shutdownGracefully(0, MOST_SECONDS, TimeUnit.SECONDS).sync();
        messages.addAll(lendable);
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(20 * patience());
        for (int i = 0; i < messages.size(); i++) {
            ReferenceCounted message = messages.get(i);
            while (message.refCnt() > 1 && System.nanoTime() < deadline) {
                Thread.sleep(1);
            }
            if (message.refCnt() != 1) {
                text += " message " + i + " has " + message.refCnt();
            }
            if (message.refCnt() > 0) {
                message.release(message.refCnt());
            }
        }
        return masked(text);
    }
}
