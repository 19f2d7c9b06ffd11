/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ShutdownChannelGroupException;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.testkit.programs.World;

/** The asynchronous channels of one run of a program: of one provider, in a group of one kind. */
final class AioWorld extends World {

    /** What runs completion handlers. */
    enum Pool {
        DEFAULT,
        ONE,
        TWO,
        CACHED,
        GIVEN
    }

    static final String THREAD = "of the pool";

    private static final int SLOW = 30;
    private static final long CLOSE_MILLIS = 2000; // for what a close ends; then the outcomes say what did not end

    /** An operation with a future. */
    record Begun(String name, End end, Future<?> future, Operation.Told told) {
        boolean isDone() {
            return future.isDone();
        }
    }

    final AsynchronousChannelProvider provider;
    final InetAddress address;
    final Pool pool;
    final AioKind kind;
    final AsynchronousChannelGroup group; // null: the default one
    final ExecutorService executor; // null unless the group was given one
    final InetSocketAddress dead; // nobody listens there
    final List<Begun> futures = new ArrayList<>();
    final List<Operation> operations = new ArrayList<>();
    private final Set<Object> neverMind = Collections.newSetFromMap(new IdentityHashMap<>()); // it waits after all
    final AtomicInteger data; // bytes that arrived, in all programs

    private final Socket keepsDead = new Socket();
    private final List<End> all = new ArrayList<>();
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private volatile boolean changed; // what others are yet to see
    private CountDownLatch held; // the only thread of the pool waits for it
    final AtomicInteger queued = new AtomicInteger(); // connections that the server has not accepted

    final End[] ends = new End[4];
    AsynchronousServerSocketChannel server;

    /** @param kind null for the JDK's own */
    AioWorld(AioKind kind, AsynchronousChannelProvider provider, InetAddress address, Pool pool, AtomicInteger data)
            throws Exception {
        this.kind = kind;
        this.provider = provider;
        this.address = address;
        this.pool = pool;
        this.data = data;
        ThreadFactory factory = AioSuite.daemons(THREAD);
        this.executor = switch (pool) {
            case CACHED -> Executors.newCachedThreadPool(factory);
            case GIVEN -> Executors.newFixedThreadPool(2, factory);
            default -> null;
        };
        this.group = switch (pool) {
            case DEFAULT -> null;
            case ONE -> provider.openAsynchronousChannelGroup(1, factory);
            case TWO -> provider.openAsynchronousChannelGroup(2, factory);
            case CACHED -> provider.openAsynchronousChannelGroup(executor, -1);
            case GIVEN -> provider.openAsynchronousChannelGroup(executor, 0);
        };
        keepsDead.bind(new InetSocketAddress(address, 0));
        dead = (InetSocketAddress) keepsDead.getLocalSocketAddress();
        pair();
        ends[2] = open();
        ends[3] = open();
        listen();
    }

    // ---- sockets ----

    End add(AsynchronousSocketChannel channel) {
        End end = new End(channel);
        synchronized (all) {
            all.add(end);
        }
        return end;
    }

    End open() throws IOException {
        return add(provider.openAsynchronousSocketChannel(group));
    }

    /** A new one instead of the last. */
    void openServer() throws IOException {
        AsynchronousServerSocketChannel fresh = provider.openAsynchronousServerSocketChannel(group);
        opened.push(fresh);
        server = fresh;
        queued.set(0);
    }

    void listen() throws IOException {
        openServer();
        server.bind(new InetSocketAddress(address, 0));
    }

    /** The first two ends are connected with each other from then on. */
    void pair() throws Exception {
        try (AsynchronousServerSocketChannel listener = provider.openAsynchronousServerSocketChannel(group)) {
            listener.bind(new InetSocketAddress(address, 0));
            End client = open();
            Future<Void> connecting = client.channel.connect(listener.getLocalAddress());
            AsynchronousSocketChannel accepted = AioSuite.get(listener.accept());
            AioSuite.get(connecting);
            End served = add(accepted);
            client.peer = served;
            served.peer = client;
            ends[0] = client;
            ends[1] = served;
            if (kind != null) {
                kind.check(client.channel);
                kind.check(accepted);
            }
        }
    }

    /** An accepted channel finds its peer, and becomes the last end. */
    void accepted(AsynchronousSocketChannel channel) {
        End end = add(channel);
        queued.decrementAndGet();
        ends[3] = end;
        match();
    }

    /** Ends find their peers. */
    private void match() {
        synchronized (all) {
            for (End one : all) {
                for (End another : all) {
                    if (one.peer == null && another.peer == null && isPeer(one.channel, another.channel)) {
                        one.peer = another;
                        another.peer = one;
                    }
                }
            }
        }
    }

    private static boolean isPeer(AsynchronousSocketChannel one, AsynchronousSocketChannel another) {
        try {
            Object remote = one.getRemoteAddress();
            return remote != null
                    && remote.equals(another.getLocalAddress())
                    && one.getLocalAddress().equals(another.getRemoteAddress());
        } catch (IOException e) {
            return false; // one is closed
        }
    }

    End end(Random chance) {
        return ends[chance.nextInt(8) % (chance.nextInt(3) == 0 ? 4 : 2)];
    }

    InetSocketAddress port() throws IOException {
        return server.isOpen() ? (InetSocketAddress) server.getLocalAddress() : null;
    }

    /** The JDK's default group is one for all instances of its provider. */
    boolean isOfProvider(AsynchronousChannelProvider named) {
        return group == null || named == provider;
    }

    // ---- the only thread of a pool ----

    boolean isHeld() {
        return held != null;
    }

    /** Keeps the only thread of the pool, so that whatever is to be completed by it is not. */
    void hold(Executor pooled) throws InterruptedException {
        CountDownLatch until = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        pooled.execute(() -> {
            begun.countDown();
            boolean done = false;
            while (!done) {
                try {
                    until.await();
                    done = true;
                } catch (InterruptedException e) {
                    // nothing else ends it
                }
            }
        });
        held = until;
        if (!begun.await(30, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the pool does nothing");
        }
    }

    void release() {
        if (held != null) {
            held.countDown();
            held = null;
        }
    }

    // ---- waiting ----

    void changes() {
        changed = true;
    }

    long patient() {
        return patience();
    }

    String interrupt() {
        return interruptOldest();
    }

    /** Before each call: what was done has arrived, and is accounted for. */
    void arrive() throws InterruptedException {
        if (changed) {
            changed = false;
            Thread.sleep(Math.max(1, patience() / 8));
        }
        match();
        account();
        if (group != null && group.isShutdown() && !isHeld() && allClosed()) {
            group.awaitTermination(patience(), TimeUnit.MILLISECONDS);
        }
    }

    private void account() {
        for (Begun each : futures) {
            if (each.future.isDone() && !each.future.isCancelled()) {
                try {
                    each.told.accountOnce(each.future);
                } catch (Exception e) { // it failed, which is no news
                }
            }
        }
    }

    private boolean allClosed() {
        synchronized (all) {
            for (End each : all) {
                if (each.channel.isOpen()) {
                    return false;
                }
            }
        }
        return opened.stream().noneMatch(each -> ((AsynchronousServerSocketChannel) each).isOpen());
    }

    /** What becomes of a future. */
    String begun(String name, End end, Future<?> future, Operation.Told told) throws Exception {
        futures.add(new Begun(name, end, future, told));
        return waitFor(futures.get(futures.size() - 1));
    }

    String waitFor(Begun begun) throws Exception {
        settle();
        return told(() -> outcomeOf(begun));
    }

    private static String outcomeOf(Begun begun) throws Exception {
        try {
            return ended(begun.name, begun.end, begun.told.accountOnce(begun.future));
        } catch (ExecutionException e) {
            return ended(begun.name, begun.end, AioPrograms.name(e));
        }
    }

    /**
     * Of a read that waited when the input was shut: once the peer has reset the connection the JDK's may say so, or
     * that the stream has ended.
     */
    static String ended(String name, End end, String outcome) {
        return name.equals("read") && end.shutIn
                ? outcome.replaceAll(".*(Connection reset|(Integer|Long) -1).*", "the end")
                : outcome;
    }

    /** What becomes of an operation with a handler. */
    String begun(Operation operation) throws Exception {
        operations.add(operation);
        settle();
        return told(operation.outcome::get);
    }

    /** Waits for what has every reason to end soon: a busy machine is slow. */
    void settle() throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SLOW * patience());
        List<Object> due = due();
        while (!due.isEmpty() && System.nanoTime() < deadline) {
            Thread.sleep(0, 200_000);
            due = due();
        }
        neverMind.addAll(due);
    }

    private List<Object> due() {
        account();
        List<Object> due = new ArrayList<>();
        for (Begun each : futures) {
            if (!each.isDone() && !neverMind.contains(each) && isDue(each.name, each.end, true)) {
                due.add(each);
            }
        }
        for (Operation each : operations) {
            if (!each.outcome.isDone() && !neverMind.contains(each) && isDue(each.name, each.end, !each.timed)) {
                due.add(each);
            }
        }
        return due;
    }

    private boolean isDue(String name, End end, boolean unlimited) {
        if (isHeld()) {
            return false;
        }
        return switch (name) {
            case "read" -> !unlimited || !end.channel.isOpen() || end.peer != null && !end.unclear && !end.isQuiet();
            case "accept" -> queued.get() > 0 || !server.isOpen();
            case "fill" -> !end.channel.isOpen() || !end.peer.channel.isOpen();
            default -> !end.full;
        };
    }

    /** Handlers that nobody would call: whoever closes the last channel of a group ends its threads, with the JDK. */
    boolean mayHandle(boolean waits) {
        return group == null || !waits || !group.isShutdown();
    }

    boolean isFixed() {
        return pool == Pool.ONE || pool == Pool.TWO;
    }

    /** Whether a read waits. */
    boolean isRead(End end) {
        return end != null && hasOutstanding(end);
    }

    /** Whether what a channel waits for may come when its peer is closed, and it is to be closed itself. */
    boolean isRisky() {
        synchronized (all) {
            for (End each : all) {
                if (each.peer != null && each.channel.isOpen() && (hasOutstanding(each) || each.isDeaf())) {
                    return true;
                }
            }
        }
        return false;
    }

    boolean someAreHandled() {
        return operations.stream().anyMatch(each -> !each.outcome.isDone());
    }

    String waits(Callable<String> call) throws InterruptedException {
        return told(call);
    }

    // ---- the end ----

    /** One by one: what the close of a channel does to its peer is done before the peer is closed itself. */
    @Override
    public void close() throws IOException {
        release();
        try {
            settle();
        } catch (InterruptedException e) {
            throw new InterruptedIOException();
        }
        List<End> each;
        synchronized (all) {
            each = new ArrayList<>(all);
        }
        each.sort(Comparator.comparing(End::isDeaf));
        for (End end : each) {
            if (end.channel.isOpen()) {
                end.channel.close();
                if (end.peer != null) {
                    awaitNone(end.peer);
                }
            }
        }
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (ShutdownChannelGroupException e) {
                // the JDK's ends its threads before it calls the handler
            } catch (Exception e) {
                throw new IOException(e);
            }
        }
        synchronized (all) {
            each = List.copyOf(all);
        }
        for (End end : each) {
            end.channel.close(); // accepted meanwhile
        }
        if (group != null) {
            group.shutdownNow();
        }
        keepsDead.close();
    }

    private void awaitNone(End end) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS);
        while (hasOutstanding(end) && System.nanoTime() < deadline) {
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private boolean hasOutstanding(End end) {
        for (Begun each : futures) {
            if (each.end == end && !each.future.isDone()) {
                return true;
            }
        }
        for (Operation each : operations) {
            if (each.end == end && !each.outcome.isDone()) {
                return true;
            }
        }
        return false;
    }

    /** Its outcome is told later, by the framework, and masked all the same. */
    private String told(Callable<?> call) throws InterruptedException {
        return mayWait(() -> {
            try {
                return masked(call.call());
            } catch (Throwable e) {
                return masked(AioPrograms.name(e));
            }
        });
    }

    /** Text without what differs between runs. */
    String masked(Object text) {
        return String.valueOf(text)
                .replaceAll("[A-Za-z.]+Asynchronous(Server)?SocketChannel(Impl)?\\[", "$1[")
                .replace(" over RDMA]", "]")
                .replaceAll("Task .* rejected .*", "rejected")
                .replaceAll("NullPointerException: Cannot .* is null", "NullPointerException") // of the JVM
                .replaceAll("(IndexOutOfBoundsException): Range .*", "$1") // which JDK 17 says of reads alone
                .replaceAll(":" + dead.getPort() + "\\b", ":dead")
                .replaceAll(":[1-9][0-9]*\\b", ":port");
    }
}
