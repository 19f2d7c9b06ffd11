/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.jmh;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jrsocket.stream.RdmaListener;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;

/** Two connected streams at their defaults on a device of this JVM. */
final class Ends implements AutoCloseable {

    static final long PATIENCE = TimeUnit.SECONDS.toNanos(30);

    final RdmaStream client;
    final RdmaStream server;
    private final LoopbackProvider provider;
    private final RdmaTransport transport;

    Ends(LoopbackConfig config) throws IOException {
        provider = new LoopbackProvider(config);
        transport = RdmaTransport.over(provider);
        InetAddress address = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
        try (RdmaListener listener = transport.listen(new InetSocketAddress(address, 0), 1, StreamConfig.DEFAULT)) {
            client = transport
                    .connect(null, listener.localAddress(), StreamConfig.DEFAULT)
                    .await(PATIENCE);
            RdmaStream accepted = listener.poll();
            while (accepted == null) {
                LockSupport.parkNanos(100_000);
                accepted = listener.poll();
            }
            server = accepted;
        }
    }

    /** An end that the device tells nothing does not wait for the other's. */
    @Override
    public void close() {
        client.abort();
        server.abort();
        transport.close();
        provider.close();
    }
}
