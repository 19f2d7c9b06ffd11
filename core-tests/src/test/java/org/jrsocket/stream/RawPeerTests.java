/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jrsocket.threads.ServiceThreads;
import org.jrsocket.threads.Threads;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/**
 * Streams against {@link RawPeer}s over loopback verbs; afterwards everything must be given back and nothing used
 * wrongly.
 */
@Timeout(120)
abstract class RawPeerTests {

    static final long PATIENCE = StreamPair.PATIENCE;
    static final InetAddress HERE = InetAddress.getLoopbackAddress();
    /** Sleeps at once: these tests share two processors with others. */
    static final StreamConfig CONFIG = StreamConfig.DEFAULT
            .withSpinNanos(0)
            .withBuffers(256 * 1024, 256 * 1024)
            .withReceiveSlab(128 * 1024);

    /** Which end the stream is. */
    enum Role {
        ACTIVE,
        PASSIVE
    }

    /** A stream and the raw peer it is connected to. */
    record Link(RdmaStream stream, RawPeer peer) {}

    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    });
    private final List<AutoCloseable> toClose = new ArrayList<>();
    private CountDownLatch heldServiceThread;
    final List<RawPeer> peers = new CopyOnWriteArrayList<>();
    LoopbackProvider verbs;
    RdmaTransport transport;

    LoopbackConfig config() {
        return new LoopbackConfig();
    }

    /** What the transport sees; a test may put something between. */
    VerbsProvider wrap(LoopbackProvider provider) {
        return provider;
    }

    RdmaTransport open(VerbsProvider provider) throws IOException {
        return RdmaTransport.over(provider);
    }

    @BeforeEach
    void open() throws IOException {
        verbs = new LoopbackProvider(config());
        verbs.onMessage((from, to, opcode, imm, length, address, key) -> {
            for (RawPeer peer : peers) {
                peer.record(to, opcode, imm, length, address, key);
            }
        });
        transport = open(wrap(verbs));
    }

    @AfterEach
    void everythingIsGivenBack() throws Exception {
        if (heldServiceThread != null) {
            heldServiceThread.countDown(); // a test that fails tells why, instead of waiting for that thread to stop
        }
        for (RawPeer peer : peers) {
            peer.close();
        }
        for (AutoCloseable closeable : toClose) {
            closeable.close();
        }
        transport.close();
        threads.shutdownNow();
        assertTrue(threads.awaitTermination(30, TimeUnit.SECONDS), "a thread is still inside a stream");
        assertEquals(0, transport.liveStreams());
        verbs.assertClean();
        verbs.close();
    }

    /** Closes it after the test. */
    <T extends AutoCloseable> T later(T closeable) {
        toClose.add(closeable);
        return closeable;
    }

    RdmaListener listen(StreamConfig config) throws IOException {
        return later(transport.listen(new InetSocketAddress(HERE, 0), 50, config));
    }

    RawPeer.RawListener rawListen() throws IOException {
        return later(new RawPeer.RawListener(verbs));
    }

    RawPeer active(InetSocketAddress to, RawPeer.Spec spec) throws IOException {
        RawPeer peer = RawPeer.active(verbs, to, spec);
        peers.add(peer);
        return peer;
    }

    Link link(Role role) throws IOException {
        return link(role, RawPeer.Spec.DEFAULT);
    }

    Link link(Role role, RawPeer.Spec spec) throws IOException {
        return link(role, spec, CONFIG);
    }

    /** Connected; what the stream sends of itself at that moment has been sent. */
    Link link(Role role, RawPeer.Spec spec, StreamConfig config) throws IOException {
        Link link = unsettled(role, spec, config);
        if (!verbs.device().isIwarp()) {
            RawPeer.await(() -> link.peer.arrivals() > 0, () -> "no grant after the connection was established");
        }
        return link;
    }

    Link unsettled(Role role, RawPeer.Spec spec, StreamConfig config) throws IOException {
        if (role == Role.PASSIVE) {
            try (RdmaListener listener = transport.listen(new InetSocketAddress(HERE, 0), 50, config)) {
                RawPeer peer = active(listener.localAddress(), spec);
                peer.request(peer.connData());
                peer.established();
                return new Link(StreamPair.accept(listener), peer);
            }
        }
        RawPeer.RawListener listener = rawListen();
        PendingConnect pending = transport.connect(null, listener.address(), config);
        RawPeer peer = listener.take(spec);
        peers.add(peer);
        peer.answer(peer.connData());
        RdmaStream stream = pending.await(PATIENCE);
        peer.confirmed();
        return new Link(stream, peer);
    }

    /** Until {@code release} the service thread does nothing. */
    void keepTheServiceThreadBusy(CountDownLatch release) throws InterruptedException {
        CountDownLatch busy = new CountDownLatch(1);
        heldServiceThread = release;
        transport.service().execute(() -> {
            busy.countDown();
            try {
                release.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        busy.await();
    }

    /** Returns when the service thread has done what was asked of it before, and looked for events once. */
    void passTheServiceThread() throws InterruptedException {
        for (int turn = 0; turn < 2; turn++) { // in the first one it may have looked just before
            CountDownLatch passed = new CountDownLatch(1);
            transport.service().execute(passed::countDown);
            assertTrue(passed.await(60, TimeUnit.SECONDS), "the service thread is busy");
        }
    }

    <T> Future<T> background(Callable<T> task) {
        return threads.submit(task);
    }

    static <T> T get(Future<T> future) throws Exception {
        return future.get(60, TimeUnit.SECONDS);
    }

    static List<Integer> imms(List<RawPeer.Message> messages) {
        return messages.stream().map(RawPeer.Message::imm).toList();
    }

    /** Everything until that many bytes of data came. */
    static List<RawPeer.Message> awaitData(RawPeer peer, int count) {
        List<RawPeer.Message> got = new ArrayList<>();
        RawPeer.await(
                () -> {
                    got.addAll(peer.takeMessages());
                    return RawPeer.bytesOf(got).length >= count;
                },
                () -> "awaited " + count + " bytes, came " + got);
        return got;
    }

    /** Adds what arrives to {@code got} until {@code imm} is among it. */
    static void takeUntil(int imm, RawPeer peer, List<RawPeer.Message> got) {
        RawPeer.await(
                () -> {
                    got.addAll(peer.takeMessages());
                    return imms(got).contains(imm);
                },
                () -> "awaited " + Imm.describe(imm) + ", came " + got);
    }

    /** Reads exactly that many bytes. */
    static byte[] read(RdmaStream stream, int count) throws IOException {
        byte[] bytes = new byte[count];
        StreamBehaviour.readFully(stream, bytes);
        return bytes;
    }

    static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i * 31 + (i >> 8));
        }
        return bytes;
    }

    /** Returns once the reapers have done what they had to do: each of their threads has come here. */
    final void awaitReapers(Device device) {
        CountDownLatch here = new CountDownLatch(ServiceThreads.mostReapers());
        for (int i = 0; i < ServiceThreads.mostReapers(); i++) {
            transport.services().reapers.reap(device, () -> {
                here.countDown();
                Threads.await(here, PATIENCE);
            });
        }
        assertTrue(Threads.await(here, PATIENCE));
    }

    interface Body {
        void run() throws Exception;
    }

    /** One line, and one more for each interval that has passed since {@code start}. */
    static void assertLimited(List<String> warnings, long start) {
        long most = 1 + (System.nanoTime() - start) / LimitedLog.INTERVAL_NANOS;
        assertTrue(!warnings.isEmpty() && warnings.size() <= most, warnings::toString);
    }

    /** What was logged meanwhile at WARN or above, line by line. */
    static List<String> warningsIn(Body body) throws Exception {
        PrintStream before = System.err;
        ByteArrayOutputStream captured = new ByteArrayOutputStream();
        System.setErr(new PrintStream(captured, true, StandardCharsets.UTF_8));
        try {
            body.run();
        } finally {
            System.setErr(before);
            before.print(captured.toString(StandardCharsets.UTF_8));
        }
        return captured.toString(StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.contains(" WARN ") || line.contains(" ERROR "))
                .toList();
    }
}
