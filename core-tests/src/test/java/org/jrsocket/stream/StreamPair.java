/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Two connected ends and the listener they met at. */
final class StreamPair implements AutoCloseable {

    static final long PATIENCE = TimeUnit.SECONDS.toNanos(60);

    final RdmaStream client;
    final RdmaStream server;

    StreamPair(RdmaStream client, RdmaStream server) {
        this.client = client;
        this.server = server;
    }

    static StreamPair connect(RdmaTransport transport, InetAddress address, StreamConfig config) throws IOException {
        return connect(transport, address, config, config);
    }

    static StreamPair connect(
            RdmaTransport transport, InetAddress address, StreamConfig clientConfig, StreamConfig serverConfig)
            throws IOException {
        try (RdmaListener listener = transport.listen(new InetSocketAddress(address, 0), 50, serverConfig)) {
            RdmaStream client = transport
                    .connect(null, listener.localAddress(), clientConfig)
                    .await(PATIENCE);
            return new StreamPair(client, accept(listener));
        }
    }

    static RdmaStream accept(RdmaListener listener) {
        long deadline = System.nanoTime() + PATIENCE;
        RdmaStream stream = listener.poll();
        while (stream == null) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("nothing to accept");
            }
            LockSupport.parkNanos(100_000);
            stream = listener.poll();
        }
        return stream;
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }
}
