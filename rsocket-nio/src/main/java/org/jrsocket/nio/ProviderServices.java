/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.SocketOption;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Set;
import org.jrsocket.connect.KeepAliveOption;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;

/**
 * What the channels and selectors of a provider share: the settings, RDMA, and the JDK's channels that are inside ours.
 * Safe for use by many threads.
 */
final class ProviderServices {

    private final SelectorProvider provider;
    private final SelectorProvider jdk;
    private final TransportContext context;
    private final TransportHolder holder;
    private volatile ClientDefaults clientDefaults;

    /**
     * @param provider whose they are as an application sees them
     * @param jdk opens the channels inside
     * @param holder the one that {@code context} uses
     */
    ProviderServices(
            SelectorProvider provider, SelectorProvider jdk, TransportContext context, TransportHolder holder) {
        this.provider = provider;
        this.jdk = jdk;
        this.context = context;
        this.holder = holder;
    }

    SelectorProvider provider() {
        return provider;
    }

    TransportContext context() {
        return context;
    }

    TransportHolder holder() {
        return holder;
    }

    SocketChannel openTcp(ProtocolFamily family) throws IOException {
        return family == null ? jdk.openSocketChannel() : jdk.openSocketChannel(family);
    }

    /** Opens a server channel of the JDK's, whose accepted channels are the provider's as an application sees it. */
    ServerSocketChannel openTcpServer(ProtocolFamily family) throws IOException {
        return JdkChannels.openServer(provider, family);
    }

    /**
     * The defaults of a client channel of the JDK's.
     *
     * @param keepIdle seconds until the first keep-alive probe
     */
    record ClientDefaults(Set<SocketOption<?>> options, int keepIdle) {}

    /** Finds the client defaults out, unless that has been done. */
    void findClientDefaults() throws IOException {
        if (clientDefaults == null) {
            try (SocketChannel client = jdk.openSocketChannel()) {
                Set<SocketOption<?>> options = client.supportedOptions();
                clientDefaults = new ClientDefaults(options, KeepAliveOption.idleSeconds(options, client::getOption));
            }
        }
    }

    /** Returns the client defaults. For accepted channels: opening their server channel has found them out. */
    ClientDefaults clientDefaults() {
        return clientDefaults;
    }
}
