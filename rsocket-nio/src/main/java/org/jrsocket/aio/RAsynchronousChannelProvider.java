/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.io.IOException;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.security.AccessController;
import java.security.PrivilegedActionException;
import java.security.PrivilegedExceptionAction;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import org.jrsocket.nio.ChannelAccess;
import org.jrsocket.nio.ProgramProviders;
import org.jrsocket.nio.RSelectorProvider;
import org.jrsocket.threads.Threads;

/**
 * A provider of asynchronous socket channels that use RDMA where both ends can, and TCP elsewhere. It is set for a
 * whole JVM by {@code -Djava.nio.channels.spi.AsynchronousChannelProvider} or {@link #install}. If the process has no
 * RDMA, and no rule insists on it, everything the provider opens is the JDK's own. Safe for use by many threads.
 *
 * <p>Programs may use the constructor without arguments and the methods of {@link AsynchronousChannelProvider}. The
 * other methods are for the other modules, and may change with any version.
 */
public final class RAsynchronousChannelProvider extends AsynchronousChannelProvider {

    private static final String PROPERTY = "java.nio.channels.spi.AsynchronousChannelProvider";

    private final RSelectorProvider selectors;
    private final AsynchronousChannelProvider jdk;
    private volatile AsynchronousChannelGroup defaultGroup; // written under this monitor; lives as long as the process

    /** Creates a provider on the streams of {@link RSelectorProvider#RSelectorProvider()}. */
    public RAsynchronousChannelProvider() {
        this(new RSelectorProvider());
    }

    /** Creates a provider on the streams of {@code selectors}. */
    public RAsynchronousChannelProvider(RSelectorProvider selectors) {
        this.selectors = selectors;
        this.jdk = ChannelAccess.newJdkAsynchronousProvider();
    }

    /**
     * Makes this the provider of the whole JVM, unless another one is named. Works only before the first asynchronous
     * channel.
     *
     * @throws IOException if the program brings a provider of its own
     */
    public static void install() throws IOException {
        if (System.getProperty(PROPERTY) == null) {
            ProgramProviders.ensureFound(RAsynchronousChannelProvider.class);
            ProgramProviders.ensureNone(AsynchronousChannelProvider.class, "provider");
            System.setProperty(PROPERTY, RAsynchronousChannelProvider.class.getName());
        }
    }

    // ---- groups ----

    @Override
    public AsynchronousChannelGroup openAsynchronousChannelGroup(int threads, ThreadFactory factory)
            throws IOException {
        if (!selectors.isRdmaUsable()) {
            return jdk.openAsynchronousChannelGroup(threads, factory);
        }
        if (threads <= 0) {
            throw new IllegalArgumentException("'nThreads' must be > 0");
        }
        return group(Executors.newFixedThreadPool(threads, factory), true, threads);
    }

    @Override
    public AsynchronousChannelGroup openAsynchronousChannelGroup(ExecutorService executor, int initialSize)
            throws IOException {
        if (!selectors.isRdmaUsable()) {
            return jdk.openAsynchronousChannelGroup(executor, initialSize);
        }
        if (executor == null) {
            throw new NullPointerException("'executor' is null");
        }
        int threads = Math.max(0, initialSize);
        if (executor instanceof ThreadPoolExecutor pool && pool.getMaximumPoolSize() == Integer.MAX_VALUE) {
            threads = initialSize < 0 ? Runtime.getRuntime().availableProcessors() : 0; // as in the JDK
        }
        return group(executor, false, threads);
    }

    private AsynchronousChannelGroup group(ExecutorService pool, boolean fixed, int threads) throws IOException {
        return new RAsynchronousChannelGroup(this, selectors, pool, fixed, threads);
    }

    /** Returns the group of channels that are opened without one; null if that is the JDK's. */
    private AsynchronousChannelGroup defaultGroup() throws IOException {
        AsynchronousChannelGroup made = defaultGroup;
        if (made == null) {
            synchronized (this) {
                made = defaultGroup;
                if (made == null && selectors.isRdmaUsable()) {
                    made = newDefaultGroup();
                    defaultGroup = made;
                }
            }
        }
        return made;
    }

    /** Creates the default group with our own rights: all callers share it, whichever of them needs it first. */
    @SuppressWarnings("removal") // JDK 17 has programs with a security manager
    private AsynchronousChannelGroup newDefaultGroup() throws IOException {
        try {
            return AccessController.doPrivileged((PrivilegedExceptionAction<AsynchronousChannelGroup>) () ->
                    group(Executors.newCachedThreadPool(DefaultPool.factory()), false, DefaultPool.initialSize()));
        } catch (PrivilegedActionException e) {
            throw (IOException) e.getException();
        }
    }

    /** The system properties of the JDK's own default group. */
    private static final class DefaultPool {

        private static final String FACTORY = "java.nio.channels.DefaultThreadPool.threadFactory";
        private static final String SIZE = "java.nio.channels.DefaultThreadPool.initialSize";

        static int initialSize() {
            String size = System.getProperty(SIZE);
            try {
                int wanted = size == null ? -1 : Integer.parseInt(size);
                return wanted < 0 ? Runtime.getRuntime().availableProcessors() : wanted;
            } catch (NumberFormatException e) {
                throw new Error("Value of property '" + SIZE + "' is invalid: " + e, e);
            }
        }

        static ThreadFactory factory() {
            String name = System.getProperty(FACTORY);
            if (name == null) {
                return task -> Threads.daemon("jrsocket-aio-handler", task);
            }
            try {
                return Class.forName(name, true, ClassLoader.getSystemClassLoader())
                        .asSubclass(ThreadFactory.class)
                        .getDeclaredConstructor()
                        .newInstance();
            } catch (ReflectiveOperationException e) {
                throw new Error(e);
            }
        }
    }

    // ---- channels ----

    @Override
    public AsynchronousSocketChannel openAsynchronousSocketChannel(AsynchronousChannelGroup group) throws IOException {
        AsynchronousChannelGroup chosen = group == null ? defaultGroup() : group;
        if (!isOurs(chosen)) {
            return jdk.openAsynchronousSocketChannel(chosen);
        }
        RAsynchronousChannelGroup ours = (RAsynchronousChannelGroup) chosen;
        ours.ensureTakesChannels();
        return RAsynchronousSocketChannel.over(selectors.openSocketChannel(), ours);
    }

    @Override
    public AsynchronousServerSocketChannel openAsynchronousServerSocketChannel(AsynchronousChannelGroup group)
            throws IOException {
        AsynchronousChannelGroup chosen = group == null ? defaultGroup() : group;
        if (!isOurs(chosen)) {
            return jdk.openAsynchronousServerSocketChannel(chosen);
        }
        RAsynchronousChannelGroup ours = (RAsynchronousChannelGroup) chosen;
        ours.ensureTakesChannels();
        return RAsynchronousServerSocketChannel.over(selectors.openServerSocketChannel(), ours);
    }

    /** Returns whether a group is ours. If not, the JDK's provider serves it, or reports what is wrong with it. */
    private boolean isOurs(AsynchronousChannelGroup group) {
        return group instanceof RAsynchronousChannelGroup && group.provider() == this;
    }
}
