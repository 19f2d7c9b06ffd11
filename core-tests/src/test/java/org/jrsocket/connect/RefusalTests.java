/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jrsocket.stream.Access;
import org.jrsocket.stream.PendingConnect;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.stream.RdmaListener;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.verbs.VerbsProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;

/** A listener with {@code accept} rules, a client that they admit, and many requests that they do not. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class RefusalTests {

    /** How fast the requests come, if this machine makes them so fast. */
    private static final int PER_SECOND = 1000;

    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(60);
    private static final StreamConfig CONFIG = StreamConfig.DEFAULT.withSpinNanos(0);

    /** What the requests cost their sender is not what is asked here. */
    private static final StreamConfig SMALL = CONFIG.withBuffers(4096, 4096).withQueues(16, 16);

    private final ExecutorService threads = Executors.newCachedThreadPool();
    /** Microseconds from a request to its answer, at the server. */
    private final Queue<Long> service = new ConcurrentLinkedQueue<>();

    private TransportContext context;
    private RdmaTransport transport;
    private RdmaTransport honest;
    private RdmaTransport others;
    private RdmaListener listener;

    abstract VerbsProvider verbs() throws Exception;

    /** Where a client connects that is seen with an address which a rule names. */
    abstract InetAddress admitted() throws Exception;

    /** Where one is seen with another. */
    abstract InetAddress refused() throws Exception;

    /** All addresses, both of these among them. */
    abstract InetAddress any() throws Exception;

    /** How many requests there are to be refused. */
    abstract int requests();

    @BeforeEach
    void open() throws Exception {
        VerbsProvider verbs = verbs();
        transport = RdmaTransport.over(verbs);
        honest = RdmaTransport.over(verbs);
        others = RdmaTransport.over(verbs);
        context = new TransportContext(
                Settings.read(null, new Properties(), Map.of()),
                RulesFile.parse("rules", List.of("accept " + admitted().getHostAddress() + " *")),
                TransportHolder.of(transport));
        InetSocketAddress local = new InetSocketAddress(any(), 0);
        listener = transport.listen(local, 128, CONFIG, timed(context.access(local)));
    }

    @AfterEach
    void close() {
        threads.shutdownNow();
        if (listener != null) {
            listener.close();
            others.close();
            honest.close();
            transport.close();
        }
    }

    /** The same, and keeps the times. */
    private Access timed(Access access) {
        return new Access() {
            @Override
            public String refusal(InetAddress source, InetSocketAddress at, String device) {
                return access.refusal(source, at, device);
            }

            @Override
            public void refused(long nanos) {
                access.refused(nanos);
                service.add(nanos / 1000);
            }
        };
    }

    private InetSocketAddress at(InetAddress address) {
        return new InetSocketAddress(address, listener.localAddress().getPort());
    }

    /** Connects and moves something. @return microseconds that the connection took */
    private long connect() throws Exception {
        long before = System.nanoTime();
        RdmaStream client = honest.connect(null, at(admitted()), CONFIG).await(PATIENCE);
        long micros = (System.nanoTime() - before) / 1000;
        try (client;
                RdmaStream server = accept()) {
            client.write(new byte[] {1, 2, 3}, 0, 3, PATIENCE);
            assertTrue(server.read(new byte[3], 0, 3, PATIENCE) > 0);
        }
        return micros;
    }

    private RdmaStream accept() {
        for (; ; ) {
            RdmaStream accepted = listener.poll();
            if (accepted != null) {
                return accepted;
            }
            Thread.yield();
        }
    }

    @Test
    void shouldServeAnHonestClientBesideAThousandRefusalsASecond(TestReporter reporter) throws Exception {
        int count = requests();
        InetSocketAddress refusedAt = at(refused());
        for (int i = 0; i < 5; i++) {
            connect(); // loads what there is to load
        }
        long[] alone = new long[20];
        for (int i = 0; i < alone.length; i++) {
            alone[i] = connect();
        }
        AtomicBoolean over = new AtomicBoolean();
        Future<List<Long>> client = threads.submit(() -> {
            List<Long> micros = new ArrayList<>();
            do {
                micros.add(connect());
            } while (!over.get());
            return micros;
        });
        PendingConnect[] requests = new PendingConnect[count];
        AtomicIntegerArray answered = new AtomicIntegerArray(count); // microseconds
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) {
            TimeUnit.NANOSECONDS.sleep(start + i * TimeUnit.SECONDS.toNanos(1) / PER_SECOND - System.nanoTime());
            int number = i;
            long asked = System.nanoTime();
            requests[i] = others.connect(null, refusedAt, SMALL);
            requests[i].onDone(() -> answered.set(number, (int) ((System.nanoTime() - asked) / 1000)));
        }
        for (PendingConnect request : requests) {
            RdmaConnectException e = assertThrows(RdmaConnectException.class, () -> request.await(PATIENCE));
            assertEquals(Reason.DENIED, e.reason());
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        over.set(true);
        long[] beside = client.get(60, TimeUnit.SECONDS).stream()
                .mapToLong(Long::longValue)
                .toArray();
        long[] refusals = new long[count];
        Arrays.setAll(refusals, answered::get);
        while (service.size() < count) { // a client may have its answer before the server knows
            Thread.yield();
        }
        assertEquals(count, context.counts().rdmaRefused());
        assertEquals(count, context.counts().refusalMicros().get("+Inf"));
        String said = String.format(
                "%d refusals in %.1f s: service time %s us, answered after %s us; an honest client connects in %s us,"
                        + " alone in %s us",
                count,
                seconds,
                percentiles(service.stream().mapToLong(Long::longValue).toArray()),
                percentiles(refusals),
                percentiles(beside),
                percentiles(alone));
        reporter.publishEntry("refusals", said);
        System.out.println(said);
        assertEquals(0, listener.poll() == null ? 0 : 1, "somebody was let in");
    }

    private static String percentiles(long[] micros) {
        Arrays.sort(micros);
        return "p50 " + micros[micros.length / 2] + ", p99 " + micros[micros.length * 99 / 100];
    }
}
