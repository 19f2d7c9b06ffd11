/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.stream.RdmaListener;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.stream.StreamConfig;

/** The stream API on rdma-core, at default sizes. */
final class StreamCarrier implements Carrier {

    private static final long CONNECT_NANOS = TimeUnit.SECONDS.toNanos(30);
    /** Longer than any exchange takes: a wait that spins never sleeps. */
    private static final StreamConfig SPINNING = StreamConfig.DEFAULT.withSpinNanos(TimeUnit.SECONDS.toNanos(1));

    private final RdmaTransport transport;
    private final Function<RdmaStream, Wire> wires;

    StreamCarrier(Function<RdmaStream, Wire> wires) throws IOException {
        this.wires = wires;
        transport = TransportHolder.rdmaCore().transport();
    }

    private static StreamConfig config(boolean spinning) {
        return spinning ? SPINNING : StreamConfig.DEFAULT;
    }

    @Override
    public Wire connect(InetSocketAddress to, boolean spinning) throws IOException {
        return wires.apply(transport.connect(null, to, config(spinning)).await(CONNECT_NANOS));
    }

    @Override
    public Acceptor listen(InetSocketAddress at, boolean spinning) throws IOException {
        RdmaListener listener = transport.listen(at, 128, config(spinning));
        Semaphore ready = new Semaphore(0);
        listener.onReady(ready::release);
        return () -> {
            RdmaStream stream = listener.poll();
            while (stream == null) {
                ready.acquireUninterruptibly();
                stream = listener.poll();
            }
            return wires.apply(stream);
        };
    }
}
