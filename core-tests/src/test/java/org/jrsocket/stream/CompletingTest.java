/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.threads.PatientLock;
import org.jrsocket.threads.ServiceThread;
import org.jrsocket.threads.Threads;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.junit.jupiter.api.Test;

/** A device that takes its time, or hangs, while it completes a connection that the peer has agreed to. */
class CompletingTest extends SlowDeviceTests {

    /** When the device of this host is told of the first peer that has agreed; the peer's own end is ready by then. */
    private void hangBeforeItIsReady() {
        AtomicInteger ends = new AtomicInteger();
        verbs.faults().beforeReady(device -> {
            if (device == verbs.device() && ends.incrementAndGet() == 2) {
                hang();
            }
        });
    }

    private PendingConnect connectUntilItHangs(RdmaListener listener) throws InterruptedException {
        hangBeforeItIsReady();
        PendingConnect pending = connectFromHere(listener);
        awaitReached();
        return pending;
    }

    /** Everything else goes on: answers, timers and events of other devices. */
    @Test
    void shouldConnectOverOtherDevicesWhileOneHangsAsItConnects() throws Exception {
        InetAddress there = InetAddress.getByName("127.0.0.9");
        verbs.addDevice(new LoopbackConfig().name("other"), there);
        RdmaListener here = listenThere();
        RdmaListener other = later(clients.listen(new InetSocketAddress(there, 0), 50, CONFIG));
        PendingConnect waiting = connectUntilItHangs(here);
        for (int i = 0; i < 5; i++) {
            RdmaStream client = connectFromHere(other).await(PATIENCE);
            RdmaStream server = StreamPair.accept(other);
            client.write(bytes(10), 0, 10, PATIENCE);
            assertArrayEquals(bytes(10), read(server, 10));
            server.close();
            client.close();
        }
        CompletableFuture<Boolean> ran = new CompletableFuture<>();
        transport.service().schedule(() -> ran.complete(true), 1);
        assertTrue(ran.get(PATIENCE, TimeUnit.NANOSECONDS));
        assertFalse(waiting.isDone());
        goOn.countDown();
        waiting.await(PATIENCE).close();
        StreamPair.accept(here).close();
    }

    /** Its caller turns to TCP, so the peer must not hear of a connection any more. */
    @Test
    void shouldEndAnAttemptInTimeWhoseDeviceHangsAsItConnects() throws Exception {
        CmListener listener = (CmListener) listenThere();
        PendingConnect pending = connectUntilItHangs(listener);
        RdmaConnectException e =
                assertThrows(RdmaConnectException.class, () -> pending.await(TimeUnit.MILLISECONDS.toNanos(50)));
        assertEquals(Reason.TIMEOUT, e.reason());
        assertTrue(e.getMessage().endsWith("ms: its device takes long to connect a queue pair"), e.getMessage());
        goOn.countDown();
        RawPeer.await(() -> listener.halfOpen() == 0, () -> "the peer still waits");
        assertNull(listener.poll());
        connectFromHere(listener).await(PATIENCE).close();
        StreamPair.accept(listener).close();
        listener.close();
        assertNothingIsLeft();
    }

    @Test
    void shouldCancelAnAttemptWhoseDeviceHangsAsItConnects() throws Exception {
        CmListener listener = (CmListener) listenThere();
        PendingConnect pending = connectUntilItHangs(listener);
        pending.cancel();
        assertEquals(Reason.CANCELLED, pending.failure().reason());
        goOn.countDown();
        RawPeer.await(() -> listener.halfOpen() == 0, () -> "the peer still waits");
        assertNull(listener.poll());
        listener.close();
        assertNothingIsLeft();
    }

    @Test
    void shouldHearThatThePeerHasLeftThoughTheDeviceHangsAsItConnects() throws Exception {
        RdmaListener listener = listenThere();
        PendingConnect pending = connectUntilItHangs(listener);
        listener.close();
        RdmaConnectException e = assertThrows(RdmaConnectException.class, () -> pending.await(PATIENCE));
        assertEquals(Reason.REFUSED, e.reason());
        goOn.countDown();
        assertNothingIsLeft();
    }

    /** The peer leaves, and its message has not arrived when the device is told. */
    @Test
    void shouldTellAnAnswerThatCanNoLongerBeUsedFromALackOfResources() throws Exception {
        CmListener listener = (CmListener) listenThere();
        PendingConnect pending = connectUntilItHangs(listener);
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch held = new CountDownLatch(1);
        transport.service().execute(() -> {
            held.countDown();
            Threads.await(busy, PATIENCE);
        });
        held.await();
        listener.close();
        RawPeer.await(() -> verbs.ids().size() == 1, () -> "the peer is still there");
        goOn.countDown();
        RdmaConnectException e = assertThrows(RdmaConnectException.class, () -> pending.await(PATIENCE));
        busy.countDown();
        assertEquals(Reason.REFUSED, e.reason());
        assertTrue(e.getMessage().startsWith("connecting failed: Invalid argument: RDMA to "), e.getMessage());
        assertNothingIsLeft();
    }

    @Test
    void shouldKeepNothingOfAnAttemptThatIsCompletedOnlyAfterTheTransportHasClosed() throws Exception {
        CmListener listener = (CmListener) listenThere();
        PendingConnect pending = connectUntilItHangs(listener);
        transport.close();
        assertEquals(Reason.RESOURCES, pending.failure().reason());
        goOn.countDown();
        RawPeer.await(() -> listener.halfOpen() == 0, () -> "the peer still waits");
        assertNull(listener.poll());
        listener.close();
        assertNothingIsLeft();
        assertEquals(0, transport.registeredMemory());
    }

    /** The service thread has already looked whose event it is. */
    @Test
    void shouldHearTheEndOfAPeerThatLeavesWhileTheStreamIsMade() throws Exception {
        RawPeer.RawListener listener = rawListen();
        hooked.afterEstablish = this::hang;
        PendingConnect pending = transport.connect(null, listener.address(), CONFIG);
        RawPeer peer = listener.take(RawPeer.Spec.DEFAULT);
        peers.add(peer);
        peer.answer(peer.connData());
        awaitReached();
        peer.raw.cm.disconnect(peer.raw.id);
        RawPeer.await(CompletingTest::serviceThreadWaitsForALock, () -> "the event is not there");
        goOn.countDown();
        RdmaStream stream = pending.await(PATIENCE);
        RawPeer.await(() -> stream.core().peerGone, () -> "it is not told that its peer has gone");
        stream.close();
    }

    private static boolean serviceThreadWaitsForALock() {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(each -> each.getKey().getName().equals(ServiceThread.NAME))
                .flatMap(each -> Stream.of(each.getValue()))
                .anyMatch(frame -> frame.getClassName().equals(PatientLock.class.getName()));
    }

    /** The peer has a place taken until it hears. */
    @Test
    void shouldCompleteAConnectionWhileOthersAreOnlyBeingMade() throws Exception {
        RawPeer.RawListener listener = rawListen();
        PendingConnect pending = transport.connect(null, listener.address(), CONFIG);
        RawPeer peer = listener.take(RawPeer.Spec.DEFAULT);
        peers.add(peer);
        hangBeforeItIsMade();
        List<PendingConnect> others = new ArrayList<>();
        for (int i = 0; i < 5; i++) { // more than there are makers
            others.add(connectFromHere(listenThere()));
        }
        awaitReached();
        peer.answer(peer.connData());
        pending.await(PATIENCE).close();
        others.forEach(PendingConnect::cancel);
    }
}
