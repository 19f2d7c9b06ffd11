/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.jmh;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.verbs.loopback.RawEndpoint;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What loopback verbs take by themselves for a message of {@link StreamBenchmark}: post a write with immediate data,
 * take its completion at the other end and give a receive back; every sixteenth asks for a completion.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class DeviceBenchmark {

    private static final int QUEUE = 64;
    private static final int SIGNAL_EVERY = 16;

    @Param({"64", "4096", "65536"})
    int size;

    private LoopbackProvider provider;
    private Cm cm;
    private CmChannel events;
    private CmId listener;
    private RawEndpoint client;
    private RawEndpoint server;
    private byte[] out;
    private byte[] in;
    private int count;

    @Setup
    public void connect() throws IOException {
        provider = new LoopbackProvider();
        cm = provider.openCm();
        events = cm.createEventChannel();
        listener = cm.createId(events, RdmaCm.RDMA_PS_TCP);
        cm.bindAddr(listener, new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), 0));
        cm.listen(listener, 1);
        RawEndpoint.Sizes sizes = RawEndpoint.Sizes.DEFAULT.queues(QUEUE, QUEUE).memory(size);
        client = RawEndpoint.active(provider, (InetSocketAddress) listener.getSource(), sizes);
        client.request(new byte[0]);
        server = RawEndpoint.passive(
                provider, events, RawEndpoint.await(cm, events, EventType.RDMA_CM_EVENT_CONNECT_REQUEST), sizes);
        server.accept(new byte[0]);
        client.await(EventType.RDMA_CM_EVENT_ESTABLISHED);
        server.await(EventType.RDMA_CM_EVENT_ESTABLISHED);
        server.receives(QUEUE / 2);
        out = new byte[size];
        in = new byte[size];
    }

    @TearDown
    public void close() throws IOException {
        client.close();
        server.close();
        cm.destroyCmId(listener);
        cm.destroyEventChannel(events);
        provider.close();
    }

    /** With the copies into the memory that is sent from, and out of the memory that is received in. */
    @Benchmark
    public int arrays() throws IOException {
        client.memory.buffer().put(0, out, 0, size);
        int n = oneWay();
        server.memory.buffer().get(0, in, 0, size);
        return n;
    }

    @Benchmark
    public int oneWay() throws IOException {
        boolean signaled = ++count % SIGNAL_EVERY == 0;
        int flags = (signaled ? SendBatch.SIGNALED : 0) | (size <= 64 ? SendBatch.INLINE : 0);
        client.prepare(count, SendBatch.RDMA_WRITE_WITH_IMM, flags, size, server, 0, size)
                .post();
        int n = server.recvCq.poll(server.wc);
        server.receives(n);
        return signaled ? client.sendCq.poll(client.wc) : n;
    }
}
