/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.os.Errno;
import org.jrsocket.threads.ServiceThreads;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.WcBatch;
import org.jrsocket.verbs.loopback.CmMessage;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackId;
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

    private LoopbackProvider verbs = new LoopbackProvider(new LoopbackConfig());
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
        assertNull(e.getCause(), "programs look for TCP's words in the root cause");
        return StreamFailure.of(e).getMessage();
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

    /** What the kernel says of a connection whose peer's neighbour entry changes. */
    private static CmEvent doubt() throws IOException {
        return new CmEvent(
                EventType.RDMA_CM_EVENT_UNREACHABLE.ordinal(), -Errno.ETIMEDOUT, null, null, null, new byte[0]);
    }

    @Test
    void shouldGoOnWhenTheKernelDoubtsThePath() throws Exception {
        try (StreamPair pair = quietPair()) {
            pair.client.core().onCmEvent(doubt());
            send(pair.client, pair.server, 1);
            send(pair.server, pair.client, 1);
        }
    }

    @Test
    void shouldTellAReaderIfTheKernelDoubtsThePathWithReason() throws Exception {
        try (StreamPair pair = quietPair()) {
            verbs.faults().killAll(true);
            pair.client.core().onCmEvent(doubt());
            assertPathLost(readFails(pair.client), pair);
        }
    }

    /** The one message by which the kernel tells of an id's end is lost on the way, like all others. */
    private void assertToldOnceThePathIsBack(StreamPair pair, Action loss) throws Exception {
        Future<SocketException> waits = threads.submit(() -> readFails(pair.server));
        StreamBehaviour.awaitInside("read", 1);
        verbs.faults().drop(CmMessage.DREQ, 1);
        verbs.faults().breakAfter(0);
        loss.run();
        SocketException told = StreamBehaviour.get(waits);
        assertEquals("Connection reset", told.getMessage());
        assertTrue(root(told).startsWith("the peer went away without closing"), root(told));
        pair.server.close(); // and so answers
        RawPeer.await(() -> verbs.ids().stream().noneMatch(LoopbackId::isActive), () -> "an id is kept");
    }

    @FunctionalInterface
    private interface Action {
        void run() throws IOException;
    }

    @Test
    void shouldTellThePeerThatOnlyWaitsOfAConnectionThatFailed() throws Exception {
        try (StreamPair pair = quietPair()) {
            assertToldOnceThePathIsBack(pair, () -> {
                pair.client.write(new byte[1], 0, 1, StreamPair.PATIENCE);
                assertPathLost(readFails(pair.client), pair);
                pair.client.close();
            });
        }
    }

    @Test
    void shouldTellThePeerThatOnlyWaitsOfACloseThatWasLost() throws Exception {
        try (StreamPair pair = quietPair()) {
            assertToldOnceThePathIsBack(pair, pair.client::close);
        }
    }

    /** With TCP the kernel repeats a FIN for a process that is gone. */
    @Test
    void shouldTellThePeerThatOnlyWaitsBeforeTheJvmExits() throws Exception {
        try (StreamPair pair = quietPair()) {
            CompletableFuture<Boolean> exit = new CompletableFuture<>();
            assertToldOnceThePathIsBack(pair, () -> {
                pair.client.close();
                RawPeer.await(transport.services().farewells::areFresh, () -> "nothing to wait for");
                threads.execute(() -> {
                    transport.awaitFarewells();
                    exit.complete(!pair.server.isOpen());
                });
            });
            assertTrue(StreamBehaviour.get(exit), "the JVM has gone before the peer knew");
        }
    }

    /** The reapers may be busy when the JVM exits right after a close. */
    @Test
    void shouldStillBeAtAnEndThatNobodyHasSaidYet() throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        try (StreamPair pair = quietPair()) {
            verbs.faults().breakAfter(0);
            pair.client.write(new byte[1], 0, 1, StreamPair.PATIENCE);
            assertPathLost(readFails(pair.client), pair);
            for (int i = 0; i < 100; i++) {
                transport.services().reapers.reap(verbs.device(), () -> await(busy));
            }
            pair.client.close();
            assertTrue(pair.client.awaitDrained(StreamPair.PATIENCE), "not closed");
            assertFalse(transport.services().farewells.areFresh());
            assertTrue(pair.client.isDelivering(0), "the JVM would exit");
            busy.countDown();
            RawPeer.await(() -> !pair.client.isDelivering(0), () -> "it would never exit");
            assertTrue(pair.client.isFreed());
            readFails(pair.server);
        } finally {
            busy.countDown();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Whoever stops a service does not wait for a host that is gone. */
    @Test
    void shouldNotKeepAJvmForAPeerThatDoesNotAnswer() throws Exception {
        transport.close();
        verbs.close();
        verbs = new LoopbackProvider(new LoopbackConfig().cmTimeoutMillis(60_000));
        open();
        try (StreamPair pair = quietPair()) {
            verbs.faults().drop(CmMessage.DREQ, 1);
            verbs.faults().breakAfter(0);
            pair.client.close();
            RawPeer.await(transport.services().farewells::areFresh, () -> "nothing to wait for");
            transport.awaitFarewells();
            assertTrue(verbs.ids().stream().anyMatch(LoopbackId::isActive), "the peer was told");
        }
    }

    /** Nor does a JVM that goes on keep what it had of each of them for ever. */
    @Test
    void shouldKeepNothingOfAPeerThatNeverAnswers() throws Exception {
        transport.close();
        verbs.close();
        verbs = new LoopbackProvider(new LoopbackConfig().cmTimeoutMillis(3_600_000));
        open();
        transport.services().farewells.longestNanos(TimeUnit.MILLISECONDS.toNanos(20));
        try (StreamPair pair = quietPair()) {
            verbs.faults().drop(CmMessage.DREQ, 1);
            verbs.faults().breakAfter(0);
            pair.client.close();
            RawPeer.await(() -> verbs.ids().stream().noneMatch(LoopbackId::isActive), () -> "an id is kept");
            assertFalse(transport.services().farewells.areFresh());
        }
    }

    /** It would keep what is left of each such connection for minutes. */
    @Test
    void shouldLeaveNoTimerOfAPeerThatHasAnswered() throws Exception {
        transport.services().farewells.longestNanos(TimeUnit.HOURS.toNanos(2));
        int before = timersLaterThan(TimeUnit.HOURS.toNanos(1));
        try (StreamPair pair = quietPair()) {
            assertToldOnceThePathIsBack(pair, pair.client::close);
        }
        assertEquals(before, timersLaterThan(TimeUnit.HOURS.toNanos(1)));
    }

    private int timersLaterThan(long nanos) throws Exception {
        CompletableFuture<Integer> count = new CompletableFuture<>();
        transport
                .service()
                .execute(() -> count.complete(ServiceThreads.timersLaterThan(transport.services().service, nanos)));
        return StreamBehaviour.get(count);
    }

    /** A message that it cannot send would be lost, and with soft-RoCE all connections to come. */
    @Test
    void shouldTellThePeerThatOnlyWaitsOnceThisHostHasItsLinkBack() throws Exception {
        AtomicInteger looks = new AtomicInteger();
        AtomicBoolean down = new AtomicBoolean(true);
        transport.services().farewells.judgeBy(address -> {
            assertEquals(InetAddress.getLoopbackAddress(), address);
            looks.incrementAndGet();
            return down.get();
        });
        try (StreamPair pair = quietPair()) {
            Future<SocketException> waits = threads.submit(() -> readFails(pair.server));
            StreamBehaviour.awaitInside("read", 1);
            verbs.faults().breakAfter(0, WcBatch.LOCAL_QP_OPERATION);
            pair.client.write(new byte[1], 0, 1, StreamPair.PATIENCE);
            SocketException e = readFails(pair.client);
            assertTrue(root(e).startsWith("this host's device could not send"), root(e));
            assertEquals(List.of(), lost);
            pair.client.close();
            RawPeer.await(() -> looks.get() >= 3, () -> "looked " + looks + " times");
            assertFalse(waits.isDone());
            assertEquals(1, verbs.qps().size(), "of the connection only its id is kept");
            down.set(false);
            SocketException told = StreamBehaviour.get(waits);
            assertTrue(root(told).startsWith("the peer went away without closing"), root(told));
            pair.server.close();
            RawPeer.await(() -> verbs.ids().stream().noneMatch(LoopbackId::isActive), () -> "an id is kept");
        }
    }

    @Test
    void shouldKeepNothingForAHostWithoutALinkOnceItsDeviceIsGone() throws Exception {
        AtomicInteger looks = new AtomicInteger();
        transport.services().farewells.judgeBy(address -> looks.incrementAndGet() > 0);
        try (StreamPair pair = quietPair()) {
            verbs.faults().breakAfter(0, WcBatch.LOCAL_QP_OPERATION);
            pair.client.write(new byte[1], 0, 1, StreamPair.PATIENCE);
            readFails(pair.client);
            pair.client.close();
            RawPeer.await(() -> looks.get() >= 1, () -> "never looked");
            verbs.faults().removeDevice(verbs.device());
            RawPeer.await(() -> verbs.ids().stream().noneMatch(LoopbackId::isActive), () -> "an id is kept");
        }
    }

    /** As the service thread does every few seconds; what it does itself meanwhile comes on top. */
    private static void look(RdmaStream stream, int times) {
        for (int i = 0; i < times; i++) {
            stream.core().sweep.look();
        }
    }

    /** A device may forget to give up. Nobody would ever hear of the peer's end, with or without keep-alive. */
    @Test
    void shouldNotWaitForADeviceThatSaysNothing() throws Exception {
        try (StreamPair pair = quietPair()) {
            Future<SocketException> reader = threads.submit(() -> readFails(pair.client));
            verbs.faults().holdAcks(true);
            pair.client.write(new byte[1], 0, 1, StreamPair.PATIENCE);
            look(pair.client, 2 * DeviceSilence.MOST_LOOKS);
            SocketException e = StreamBehaviour.get(reader);
            assertEquals("Connection reset", e.getMessage());
            assertTrue(root(e).startsWith("this host's device has neither completed nor failed a request"), root(e));
            assertEquals(List.of(pair.client.remoteAddress()), lost);
            verbs.faults().holdAcks(false);
        }
    }

    @Test
    void shouldWaitForAnIwarpAdapterAsLongAsTcpTries() throws Exception {
        transport.close();
        verbs.close();
        verbs = new LoopbackProvider(new LoopbackConfig().iwarp(true));
        open();
        try (StreamPair pair = quietPair()) {
            verbs.faults().holdAcks(true);
            pair.client.write(new byte[1], 0, 1, StreamPair.PATIENCE);
            look(pair.client, 2 * DeviceSilence.MOST_LOOKS);
            send(pair.server, pair.client, 1);
            assertEquals(List.of(), lost);
            look(pair.client, DeviceSilence.MOST_LOOKS_OF_IWARP);
            assertEquals("Connection reset", readFails(pair.client).getMessage());
            verbs.faults().holdAcks(false);
        }
    }

    @Test
    void shouldWaitAnewForADeviceThatHasSaidSomething() throws Exception {
        try (StreamPair pair = quietPair()) {
            for (int i = 0; i < 5; i++) {
                verbs.faults().holdAcks(true);
                pair.client.write(new byte[1], 0, 1, StreamPair.PATIENCE);
                look(pair.client, DeviceSilence.MOST_LOOKS / 2);
                verbs.faults().holdAcks(false);
                look(pair.client, 1);
            }
            send(pair.server, pair.client, 1);
            assertEquals(List.of(), lost);
        }
    }

    @Test
    void shouldNotBlameTheDeviceOnceThePeerHasClosed() throws Exception {
        try (StreamPair pair = quietPair()) {
            verbs.faults().holdAcks(true);
            send(pair.client, pair.server, 1);
            pair.server.close();
            assertEquals(-1, pair.client.read(new byte[1], 0, 1, StreamPair.PATIENCE));
            look(pair.client, 3 * DeviceSilence.MOST_LOOKS);
            assertEquals(-1, pair.client.read(new byte[1], 0, 1, StreamPair.PATIENCE));
            pair.client.write(new byte[1], 0, 1, StreamPair.PATIENCE); // in vain
            assertEquals(List.of(), lost);
            verbs.faults().holdAcks(false);
        }
    }

    @Test
    void shouldNotMindADeviceThatHasNothingToSay() throws Exception {
        try (StreamPair pair = quietPair()) {
            look(pair.client, 10 * DeviceSilence.MOST_LOOKS);
            look(pair.server, 10 * DeviceSilence.MOST_LOOKS);
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
