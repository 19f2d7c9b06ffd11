/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.io.IOException;
import java.nio.channels.AsynchronousChannel;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.ShutdownChannelGroupException;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.security.AccessControlContext;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jrsocket.nio.RSelectorProvider;
import org.jrsocket.threads.Threads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A group of channels that share a selector and a pool of threads. In a fixed pool, all threads serve the selector, and
 * call the handlers for what they find; so do the initial threads of any other pool. While none of those is free, a
 * thread of ours serves the selector, and the pool runs the handlers as tasks. Safe for use by many threads.
 */
final class RAsynchronousChannelGroup extends AsynchronousChannelGroup implements Executor, Handlers.Group {

    private static final Logger LOG = LoggerFactory.getLogger(RAsynchronousChannelGroup.class);

    /** How long the thread that selects may be away before another one does. */
    private static final long TICK_MILLIS = 1;

    private final ExecutorService pool;
    private final boolean fixed;
    private final EventLoop loop;
    private final GroupTimer timer = new GroupTimer();

    private final Set<AsynchronousChannel> channels = new HashSet<>(); // guarded by itself, as are the next two
    private boolean shutdown;
    private boolean ended;

    /**
     * @param fixed whether the pool has only {@code threads} threads
     * @param threads how many threads of the pool serve the selector
     */
    RAsynchronousChannelGroup(
            AsynchronousChannelProvider provider,
            RSelectorProvider selectors,
            ExecutorService pool,
            boolean fixed,
            int threads)
            throws IOException {
        super(provider);
        this.pool = pool;
        this.fixed = fixed;
        this.loop = new EventLoop(this, selectors.openSelector(), new Source());
        boolean started = false;
        try {
            loop.start(threads, fixed ? 0 : 1);
            started = true;
        } finally {
            if (!started) {
                loop.end();
                timer.shutdown();
            }
        }
    }

    private final class Source implements EventLoop.Threads {
        @Override
        public void start(Worker worker) {
            if (worker.internal) {
                Threads.daemon("jrsocket-aio", worker).start();
            } else {
                pool.execute(worker);
            }
        }

        @Override
        public void scheduleTick() {
            try {
                Future<?> unused = timer.schedule(loop::tick, TICK_MILLIS, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException e) {
                // the group has ended
            }
        }

        @Override
        public void failed(IOException e) {
            LOG.error("closing all channels of an asynchronous channel group, because its selector failed", e);
            closeAll();
        }
    }

    EventLoop loop() {
        return loop;
    }

    // ---- threads ----

    @Override
    public void executeOnPool(Runnable task) {
        if (fixed) {
            loop.execute(task);
        } else {
            pool.execute(() -> {
                Handlers.begin(this);
                task.run();
            });
        }
    }

    /** Runs a task with the rights of the caller. Like the JDK's groups, this one is an executor too. */
    @Override
    @SuppressWarnings("removal") // JDK 17 has programs with a security manager
    public void execute(Runnable task) {
        if (System.getSecurityManager() == null) {
            executeOnPool(task);
            return;
        }
        AccessControlContext caller = AccessController.getContext();
        executeOnPool(() -> AccessController.doPrivileged(
                (PrivilegedAction<Void>) () -> {
                    task.run();
                    return null;
                },
                caller));
    }

    /** @return null if the group has ended, which makes waiting operations fail */
    Future<?> schedule(Runnable task, long timeout, TimeUnit unit) {
        try {
            return timer.schedule(task, timeout, unit);
        } catch (RejectedExecutionException e) {
            return null;
        }
    }

    /** Returns how many tasks are scheduled. For tests. */
    int timers() {
        return timer.size();
    }

    // ---- channels ----

    /** @throws ShutdownChannelGroupException if the group takes no more channels */
    void add(AsynchronousChannel channel) {
        synchronized (channels) {
            if (shutdown) {
                throw new ShutdownChannelGroupException();
            }
            channels.add(channel);
        }
    }

    /** Throws if the group takes no more channels, before one is opened for it. */
    void ensureTakesChannels() {
        if (isShutdown()) {
            throw new ShutdownChannelGroupException();
        }
    }

    /** Removes a channel that is closed, and for which no operation waits. */
    void remove(AsynchronousChannel channel) {
        synchronized (channels) {
            channels.remove(channel);
        }
        endIfEmpty();
    }

    // ---- shutting down ----

    @Override
    public boolean isShutdown() {
        synchronized (channels) {
            return shutdown;
        }
    }

    @Override
    public boolean isTerminated() {
        return pool.isTerminated();
    }

    @Override
    public void shutdown() {
        synchronized (channels) {
            shutdown = true;
        }
        endIfEmpty();
    }

    private void endIfEmpty() {
        synchronized (channels) {
            if (!shutdown || ended || !channels.isEmpty()) {
                return;
            }
            ended = true;
        }
        loop.end();
        endThreads();
    }

    /** Ends the threads. A caller that may shut the group down needs no right to them. */
    @SuppressWarnings("removal") // JDK 17 has programs with a security manager
    private void endThreads() {
        AccessController.doPrivileged(
                (PrivilegedAction<Void>) () -> {
                    pool.shutdown();
                    timer.shutdown();
                    return null;
                },
                null,
                new RuntimePermission("modifyThread"));
    }

    @Override
    public void shutdownNow() {
        closeAll();
    }

    private void closeAll() {
        List<AsynchronousChannel> all;
        synchronized (channels) {
            shutdown = true;
            all = List.copyOf(channels);
        }
        for (AsynchronousChannel channel : all) {
            try {
                channel.close();
            } catch (IOException e) {
                LOG.debug("closing {}", channel, e); // it is closed all the same
            }
        }
        endIfEmpty();
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return pool.awaitTermination(timeout, unit);
    }
}
