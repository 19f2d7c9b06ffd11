/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadFactory;
import org.jrsocket.connect.Policy;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.TransportContext;

/**
 * Asynchronous channels over TCP, the JDK's own, which refuse connections that must use RDMA: they know none. Installed
 * only where some rule insists on RDMA. Safe for use by many threads.
 */
public final class RAsynchronousChannelProvider extends AsynchronousChannelProvider {

    private static final String PROPERTY = "java.nio.channels.spi.AsynchronousChannelProvider";

    private static volatile TransportContext installed;

    private final AsynchronousChannelProvider jdk = JdkChannels.newAsynchronousProvider();
    private final TransportContext stack;

    /** With the rules of {@link #install}. */
    public RAsynchronousChannelProvider() {
        this(installed);
    }

    RAsynchronousChannelProvider(TransportContext stack) {
        if (stack == null) {
            throw new IllegalStateException("jrsocket: only the agent installs this provider");
        }
        this.stack = stack;
    }

    /**
     * Makes this the provider of the whole JVM if some connection must use RDMA, and nobody named another. Works before
     * the first asynchronous channel.
     */
    static void install(TransportContext stack) {
        if (stack.mayUse(Policy.RDMA) && System.getProperty(PROPERTY) == null) {
            installed = stack;
            System.setProperty(PROPERTY, RAsynchronousChannelProvider.class.getName());
        }
    }

    boolean insistsOnRdma(Rules.Action action, SocketAddress address) {
        return address instanceof InetSocketAddress internet
                && !internet.isUnresolved()
                && stack.policy(action, internet) == Policy.RDMA;
    }

    @Override
    public AsynchronousChannelGroup openAsynchronousChannelGroup(int threads, ThreadFactory factory)
            throws IOException {
        return jdk.openAsynchronousChannelGroup(threads, factory);
    }

    @Override
    public AsynchronousChannelGroup openAsynchronousChannelGroup(ExecutorService executor, int initialSize)
            throws IOException {
        return jdk.openAsynchronousChannelGroup(executor, initialSize);
    }

    @Override
    public AsynchronousServerSocketChannel openAsynchronousServerSocketChannel(AsynchronousChannelGroup group)
            throws IOException {
        return new TcpOnlyAsynchronousServerSocketChannel(this, jdk.openAsynchronousServerSocketChannel(group));
    }

    @Override
    public AsynchronousSocketChannel openAsynchronousSocketChannel(AsynchronousChannelGroup group) throws IOException {
        return new TcpOnlyAsynchronousSocketChannel(this, jdk.openAsynchronousSocketChannel(group));
    }
}
