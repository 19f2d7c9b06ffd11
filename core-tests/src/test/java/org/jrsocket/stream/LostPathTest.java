/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The path to the peer breaks. The device says so of one request and only gives everything else back: whoever notices,
 * and by whatever, learns the reason, and the peer is left alone for a while.
 */
@Timeout(120)
class LostPathTest {

    private static final String NO_ANSWER = "the peer's device does not answer";

    private final LoopbackProvider verbs = new LoopbackProvider(new LoopbackConfig());
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<InetSocketAddress> lost = new CopyOnWriteArrayList<>();
    private RdmaTransport transport;

    @BeforeEach
    void open() throws IOException {
        transport = RdmaTransport.over(verbs);
        transport.onPathLost((local, peer) -> lost.add(peer));
    }

    @AfterEach
    void everythingIsGivenBack() throws Exception {
        threads.shutdownNow();
        assertTrue(threads.awaitTermination(30, TimeUnit.SECONDS), "a thread is still inside a stream");
        transport.close();
        verbs.assertClean();
        verbs.close();
    }

    /** Two ends of which neither has anything to say. */
    private StreamPair quietPair() throws IOException {
        StreamPair pair = StreamPair.connect(transport, InetAddress.getLoopbackAddress(), StreamConfig.DEFAULT);
        send(pair.client, pair.server, 1);
        send(pair.server, pair.client, 1);
        return pair;
    }

    private static void send(RdmaStream from, RdmaStream to, int count) throws IOException {
        for (int i = 0; i < count; i++) {
            from.write(new byte[1], 0, 1, StreamPair.PATIENCE);
            assertEquals(1, to.read(new byte[1], 0, 1, StreamPair.PATIENCE));
        }
    }

    private static SocketException readFails(RdmaStream stream) {
        return assertThrows(SocketException.class, () -> stream.read(new byte[1], 0, 1, StreamPair.PATIENCE));
    }

    private static String root(SocketException e) {
        Throwable root = e;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root.getMessage();
    }

    private void assertPathLost(SocketException e, StreamPair pair) {
        assertEquals("Connection reset", e.getMessage());
        assertTrue(root(e).startsWith(NO_ANSWER), root(e));
        assertEquals(List.of(pair.client.remoteAddress()), lost);
    }

    /** Not every write asks for a completion: one in two or so. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void shouldTellAReaderWhicheverWriteFails(int before) throws Exception {
        try (StreamPair pair = quietPair()) {
            send(pair.client, pair.server, before);
            verbs.faults().breakAfter(0);
            pair.client.write(new byte[1], 0, 1, StreamPair.PATIENCE);
            assertPathLost(readFails(pair.client), pair);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void shouldTellAReaderThatSleeps(int before) throws Exception {
        try (StreamPair pair = quietPair()) {
            send(pair.client, pair.server, before);
            Future<SocketException> reader = threads.submit(() -> readFails(pair.client));
            StreamBehaviour.awaitInside("read", 1);
            verbs.faults().breakAfter(0);
            pair.client.write(new byte[1], 0, 1, StreamPair.PATIENCE);
            assertPathLost(StreamBehaviour.get(reader), pair);
        }
    }

    /** It waits for room, and so it looks at both queues, sends first. */
    @Test
    void shouldTellAWriterThatSleeps() throws Exception {
        try (StreamPair pair = quietPair()) {
            verbs.faults().killAll(true);
            SocketException e = assertThrows(
                    SocketException.class, () -> pair.client.write(new byte[8 << 20], 0, 8 << 20, StreamPair.PATIENCE));
            assertPathLost(e, pair);
        }
    }

    @Test
    void shouldTellWhoeverComesAfterKeepAliveHasNoticed() throws Exception {
        try (StreamPair pair = quietPair()) {
            pair.client.keepAlive(1_000_000);
            verbs.faults().killAll(true);
            RawPeer.await(() -> !lost.isEmpty(), () -> "nobody has noticed");
            assertPathLost(readFails(pair.client), pair);
        }
    }

    /** A device may forget to give up; nobody would ever hear of the peer's end. */
    @Test
    void shouldNotWaitForADeviceThatSaysNothing() throws Exception {
        try (StreamPair pair = quietPair()) {
            transport.limitSilence(1);
            verbs.faults().holdAcks(true);
            pair.client.keepAlive(1_000_000);
            assertPathLost(readFails(pair.client), pair);
            verbs.faults().releaseAcks();
        }
    }

    private CountDownLatch tenProbes() {
        CountDownLatch probes = new CountDownLatch(10);
        verbs.onMessage((from, to, opcode, imm, length, address, key) -> {
            if (opcode == SendBatch.RDMA_WRITE && length == 0) {
                probes.countDown();
            }
        });
        return probes;
    }

    @Test
    void shouldCountTheSilenceFromTheFirstProbe() throws Exception {
        CountDownLatch probes = tenProbes();
        verbs.faults().holdAcks(true);
        try (StreamPair pair = StreamPair.connect(transport, InetAddress.getLoopbackAddress(), StreamConfig.DEFAULT)) {
            send(pair.client, pair.server, 1);
            pair.client.keepAlive(1_000_000);
            assertTrue(probes.await(60, TimeUnit.SECONDS), "no probes");
            verbs.faults().holdAcks(false);
            send(pair.client, pair.server, 1);
            assertEquals(List.of(), lost);
        }
    }

    @Test
    void shouldNotCountTheTimeBetweenProbesThatAreAnswered() throws Exception {
        CountDownLatch probes = tenProbes();
        try (StreamPair pair = quietPair()) {
            transport.limitSilence(1);
            pair.client.keepAlive(1_000_000);
            assertTrue(probes.await(60, TimeUnit.SECONDS), "no probes");
            pair.client.keepAlive(0);
            send(pair.client, pair.server, 1);
            assertEquals(List.of(), lost);
        }
    }

    /** A device that fails by itself says nothing of the peer. */
    @Test
    void shouldNotBlameThePeerForThisHostsOwnQueuePair() throws Exception {
        try (StreamPair pair = quietPair()) {
            verbs.qps().forEach(verbs.faults()::breakQp);
            SocketException e = readFails(pair.client);
            assertTrue(root(e).startsWith("the queue pair is in error ("), root(e));
            assertEquals(List.of(), lost);
        }
    }
}
