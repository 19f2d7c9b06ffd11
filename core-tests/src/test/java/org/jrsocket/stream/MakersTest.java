/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jrsocket.stream.HookedVerbs.Point;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.threads.Makers;
import org.jrsocket.threads.Threads;
import org.jrsocket.verbs.loopback.CmMessage;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.junit.jupiter.api.Test;

/**
 * A device that takes its time, or hangs, while it makes or accepts a connection: whom that concerns, and what becomes
 * of the connection if nobody wants it any more. The clients have a transport, and so service thread and makers, of
 * their own.
 */
class MakersTest extends SlowDeviceTests {

    @Test
    void shouldServeOtherDevicesWhileOneHangs() throws Exception {
        InetAddress there = InetAddress.getByName("127.0.0.9");
        verbs.addDevice(new LoopbackConfig().name("other"), there);
        RdmaListener here = listen(CONFIG);
        RdmaListener other = later(transport.listen(new InetSocketAddress(there, 0), 50, CONFIG));
        String name = verbs.device().name();
        AtomicInteger hanging = new AtomicInteger();
        hooked.beforeAccept = () -> {
            if (hanging.getAndIncrement() == 0) {
                hang();
            }
        };
        PendingConnect waiting = connect(here);
        awaitReached();
        for (int i = 0; i < 5; i++) {
            RdmaStream client = connect(other).await(PATIENCE);
            RdmaStream server = StreamPair.accept(other);
            client.write(bytes(10), 0, 10, PATIENCE);
            assertArrayEquals(bytes(10), read(server, 10));
            server.close();
            client.close();
        }
        assertFalse(waiting.isDone(), () -> name + " does not hang");
        goOn.countDown();
        waiting.await(PATIENCE).close();
        StreamPair.accept(here).close();
    }

    /** One listener of all addresses: the places of those that hang are not those of the others. */
    @Test
    void shouldLeaveOtherDevicesPlacesOfTheSameListener() throws Exception {
        InetAddress there = InetAddress.getByName("127.0.0.9");
        verbs.addDevice(new LoopbackConfig().name("other"), there);
        transport.cmServices().limits(new Admission.Limits(8, 8, 100, 100, NEVER, NEVER, NEVER));
        CmListener listener = (CmListener)
                later(transport.listen(new InetSocketAddress(InetAddress.getByAddress(new byte[4]), 0), 50, CONFIG));
        int port = listener.localAddress().getPort();
        String hanging = "jrsocket-maker " + verbs.device().name();
        hooked.beforeAccept = () -> {
            if (Thread.currentThread().getName().equals(hanging)) {
                hang();
            }
        };
        List<PendingConnect> waiting = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            waiting.add(clients.connect(null, new InetSocketAddress(InetAddress.getLoopbackAddress(), port), CONFIG));
        }
        awaitReached();
        HalfOpenTest.awaitHeld(listener, 10);
        assertEquals(2, listener.halfOpen());
        clients.connect(null, new InetSocketAddress(there, port), CONFIG)
                .await(PATIENCE)
                .close();
        goOn.countDown();
        for (PendingConnect each : waiting) {
            each.await(PATIENCE).close();
        }
    }

    /** A client may be faster than the thread that has accepted it. */
    @Test
    void shouldHearWhatComesBeforeAcceptReturns() throws Exception {
        RdmaListener listener = listen(CONFIG);
        hooked.afterAccept = this::hang;
        RdmaStream client = connect(listener).await(PATIENCE);
        client.write(bytes(30), 0, 30, PATIENCE);
        client.close();
        awaitService();
        goOn.countDown();
        assertArrayEquals(bytes(30), read(StreamPair.accept(listener), 30));
    }

    @Test
    void shouldHearTheEndOfAClientThatLeavesBeforeAcceptReturns() throws Exception {
        RdmaListener listener = listen(CONFIG);
        hooked.afterAccept = this::hang;
        RdmaStream client = connect(listener).await(PATIENCE);
        client.write(bytes(30), 0, 30, PATIENCE);
        client.abort();
        RawPeer.await(() -> verbs.ids().size() == 2, () -> "the client's id is still there");
        awaitService();
        goOn.countDown();
        RdmaStream server = StreamPair.accept(listener);
        assertArrayEquals(bytes(30), read(server, 30));
        assertThrows(IOException.class, () -> server.read(new byte[1], 0, 1, PATIENCE));
    }

    @Test
    void shouldKeepNothingOfAClientThatLeavesBeforeAcceptReturns() throws Exception {
        CmListener listener = (CmListener) listen(CONFIG);
        hooked.afterAccept = this::hang;
        verbs.faults().delay(CmMessage.REP, 3_600_000);
        PendingConnect pending = connect(listener);
        awaitReached();
        pending.cancel();
        RawPeer.await(() -> verbs.ids().size() == 2, () -> "the client's id is still there");
        awaitService();
        goOn.countDown();
        RawPeer.await(() -> listener.halfOpen() == 0, () -> "its place is taken");
        listener.close();
        assertNothingIsLeft();
    }

    @Test
    void shouldKeepNothingOfWhatIsBeingMadeWhenTheListenerCloses() throws Exception {
        RdmaListener listener = listen(CONFIG);
        hangBeforeItIsMade();
        List<PendingConnect> pending = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            pending.add(connect(listener));
        }
        awaitReached();
        listener.close();
        awaitService();
        AtomicInteger accepted = new AtomicInteger();
        hooked.beforeAccept = accepted::incrementAndGet;
        goOn.countDown();
        for (PendingConnect each : pending) {
            RdmaConnectException e = assertThrows(RdmaConnectException.class, () -> each.await(PATIENCE));
            assertEquals(Reason.REFUSED, e.reason());
        }
        assertEquals(0, accepted.get());
        assertNothingIsLeft();
    }

    @Test
    void shouldKeepNothingOfWhatIsBeingAcceptedWhenTheListenerCloses() throws Exception {
        RdmaListener listener = listen(CONFIG);
        hooked.afterAccept = this::hang;
        RdmaStream client = connect(listener).await(PATIENCE);
        awaitReached();
        listener.close();
        awaitService();
        goOn.countDown();
        assertThrows(IOException.class, () -> read(client, 1));
        client.close();
        assertNothingIsLeft();
    }

    /** Most clients have turned to TCP by then; for them nothing is made. */
    @Test
    void shouldTellAClientThatHasWaitedForTheDeviceForTooLong() throws Exception {
        long held = TimeUnit.MILLISECONDS.toNanos(50);
        transport.cmServices().limits(Admission.Limits.DEFAULT.heldNanos(held));
        CmListener listener = (CmListener) listen(CONFIG);
        hangBeforeItIsMade();
        List<PendingConnect> pending = new ArrayList<>();
        while (pending.size() < 5) { // however many makers there are, the last one waits
            pending.add(connect(listener));
            int now = pending.size();
            RawPeer.await(() -> listener.halfOpen() == now, () -> listener.halfOpen() + " are being made");
        }
        long late = System.nanoTime()
                + Math.max(
                        Handshake.LEAST_NANOS, transport.cmServices().limits().deviceNanos());
        RawPeer.await(() -> System.nanoTime() - late > 0, () -> "time stands still");
        goOn.countDown();
        assertEquals(
                Reason.BUSY,
                assertThrows(RdmaConnectException.class, () -> pending.get(4).await(PATIENCE))
                        .reason());
    }

    /** As with every wait, this one ends. */
    @Test
    void shouldKeepNothingOfWhatIsBeingMadeWhenTheTransportCloses() throws Exception {
        RdmaListener listener = listen(CONFIG);
        hangBeforeItIsMade();
        PendingConnect pending = connect(listener);
        awaitReached();
        Thread closes = new Thread(transport::close, "closes");
        closes.start();
        RawPeer.await(() -> closes.getState() == Thread.State.TIMED_WAITING, () -> "close does not wait");
        goOn.countDown();
        closes.join();
        try {
            pending.await(PATIENCE).close(); // it was accepted in the last moment, and then reset
        } catch (RdmaConnectException e) {
            assertEquals(Reason.REFUSED, e.reason());
        }
        RawPeer.await(() -> verbs.liveObjects().qps() == 0, () -> "left: " + verbs.liveObjects());
    }

    /** A thread that hangs for longer than a closing transport waits frees what it has made itself. */
    @Test
    void shouldKeepNothingOfWhatIsMadeOnlyAfterTheTransportHasClosed() throws Exception {
        RdmaListener listener = listen(CONFIG);
        hangBeforeItIsMade();
        connect(listener);
        awaitReached();
        transport.close();
        goOn.countDown();
        assertNothingIsLeft();
        assertEquals(0, transport.registeredMemory());
    }

    /** All at once, from clients that do not wait for each other. */
    @Test
    void shouldAnswerEveryoneOfACrowd() throws Exception {
        RdmaListener listener = listen(CONFIG.withBuffers(4096, 4096).withQueues(16, 16));
        List<PendingConnect> all = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            all.add(connect(listener));
        }
        for (int i = 0; i < all.size(); i++) {
            StreamPair.accept(listener).close();
        }
        for (PendingConnect each : all) {
            each.await(PATIENCE).close();
        }
    }

    // ---- connecting ----

    /** Of a caller's time limit nothing is left for TCP otherwise. */
    @Test
    void shouldEndAnAttemptInTimeWhoseDeviceHangs() throws Exception {
        RdmaListener listener = listenThere();
        hangBeforeItIsMade();
        PendingConnect pending = connectFromHere(listener);
        awaitReached();
        awaitService(); // it knows the route
        RdmaConnectException e =
                assertThrows(RdmaConnectException.class, () -> pending.await(TimeUnit.MILLISECONDS.toNanos(50)));
        assertEquals(Reason.TIMEOUT, e.reason());
        assertTrue(e.getMessage().endsWith("ms: its device takes long to make a queue pair"), e.getMessage());
        List<PendingConnect> others = new ArrayList<>();
        for (int i = 0; i < 4; i++) { // however many makers there are, the last one waits
            others.add(connectFromHere(listener));
        }
        PendingConnect behind = connectFromHere(listener);
        awaitService();
        int ids = verbs.ids().size();
        behind.cancel();
        RawPeer.await(() -> verbs.ids().size() == ids - 1, () -> "one that waits for its maker keeps its id");
        others.forEach(PendingConnect::cancel);
        goOn.countDown();
        connectFromHere(listener).await(PATIENCE).close();
        StreamPair.accept(listener).close();
        listener.close();
        assertNothingIsLeft();
    }

    /** Its queue pair is destroyed by a thread that may wait. */
    @Test
    void shouldEndAnAttemptThatWasAskedThoughItsDeviceHangs() throws Exception {
        RdmaListener listener = listenThere();
        verbs.faults().delay(CmMessage.REP, 3_600_000);
        hooked.beforeDestroyQp = device -> hang();
        PendingConnect pending = connectFromHere(listener);
        RdmaConnectException e =
                assertThrows(RdmaConnectException.class, () -> pending.await(TimeUnit.MILLISECONDS.toNanos(50)));
        assertEquals(Reason.TIMEOUT, e.reason());
        awaitReached();
        awaitService();
    }

    @Test
    void shouldCancelAnAttemptWhoseDeviceHangsWithoutWaiting() throws Exception {
        RdmaListener listener = listenThere();
        hangBeforeItIsMade();
        PendingConnect pending = connectFromHere(listener);
        awaitReached();
        pending.cancel();
        assertEquals(Reason.CANCELLED, pending.failure().reason());
        goOn.countDown();
        listener.close();
        assertNothingIsLeft();
    }

    @Test
    void shouldAskOnceWhatIsNeededIsMadeAfterTheRoute() throws Exception {
        RdmaListener listener = listenThere();
        hangBeforeItIsMade();
        PendingConnect pending = connectFromHere(listener);
        awaitReached();
        awaitService();
        goOn.countDown();
        pending.await(PATIENCE).close();
        StreamPair.accept(listener).close();
    }

    // ---- the service thread ----

    /** Nothing but the service thread could end it, and that hangs in a driver. */
    @Test
    void shouldEndAnAttemptThatHasAskedThoughTheServiceThreadHangs() throws Exception {
        RawPeer.RawListener listener = rawListen();
        PendingConnect pending = transport.connect(null, listener.address(), CONFIG);
        RawPeer peer = listener.take(RawPeer.Spec.DEFAULT);
        peers.add(peer);
        AtomicBoolean hangs = hangServiceThread();
        RdmaConnectException e =
                assertThrows(RdmaConnectException.class, () -> pending.await(TimeUnit.MILLISECONDS.toNanos(50)));
        assertEquals(Reason.TIMEOUT, e.reason());
        assertTrue(hangs.get());
    }

    private AtomicBoolean hangServiceThread() throws InterruptedException {
        AtomicBoolean hangs = new AtomicBoolean(true);
        transport.service().execute(() -> {
            try {
                hang();
            } finally {
                hangs.set(false);
            }
        });
        awaitReached();
        return hangs;
    }

    /** Nothing but the service thread could end it, and that hangs in a driver. */
    @Test
    void shouldEndAnAttemptThatHasNotAskedThoughTheServiceThreadHangs() throws Exception {
        RdmaListener listener = listenThere();
        AtomicBoolean hangs = hangServiceThread();
        PendingConnect pending = connectFromHere(listener);
        RdmaConnectException e =
                assertThrows(RdmaConnectException.class, () -> pending.await(TimeUnit.MILLISECONDS.toNanos(50)));
        assertEquals(Reason.TIMEOUT, e.reason());
        assertTrue(hangs.get());
    }

    private PendingConnect connectImpatiently(RdmaListener listener) {
        return transport.connect(null, listener.localAddress(), CONFIG, new PendingConnect.Observer() {
            @Override
            public boolean isPatient() {
                return false;
            }

            @Override
            public void asked() {
                // of no interest
            }

            @Override
            public void answered(PendingConnect.Answer answer) {
                // of no interest
            }
        });
    }

    /** Each of them would wait as long as the first. */
    @Test
    void shouldNotBeginWhatHasNoTimeWhileItsDeviceHangs() throws Exception {
        RdmaListener listener = listenThere();
        hangBeforeItIsMade();
        PendingConnect first = connectFromHere(listener);
        awaitReached();
        RawPeer.await(() -> transport.services().makers.waitLongFor(verbs.device()), () -> "it does not take long");
        RdmaConnectException e = assertThrows(
                RdmaConnectException.class, () -> connectImpatiently(listener).await(PATIENCE));
        assertEquals(Reason.RESOURCES, e.reason());
        assertTrue(e.getMessage().contains("lo0 takes long to make the queue pairs of other"), e.getMessage());
        PendingConnect patient = connectFromHere(listener);
        awaitService();
        assertFalse(patient.isDone());
        goOn.countDown();
        first.await(PATIENCE).close();
        patient.await(PATIENCE).close();
        connectImpatiently(listener).await(PATIENCE).close();
        for (int i = 0; i < 3; i++) {
            StreamPair.accept(listener).close();
        }
    }

    /** What logs may connect. */
    @Test
    void shouldNotWaitForAConnectionOnAThreadThatMakesThem() throws Exception {
        RdmaListener listener = listenThere();
        List<Object> outcomes = new CopyOnWriteArrayList<>();
        hooked.hook = (at, cookie) -> {
            if (at == Point.BEFORE_QP) {
                hooked.hook = (again, same) -> {};
                try {
                    outcomes.add(connectFromHere(listener).await(PATIENCE));
                } catch (IOException e) {
                    outcomes.add(e);
                }
            }
        };
        connectFromHere(listener).await(PATIENCE).close();
        StreamPair.accept(listener).close();
        assertEquals(1, outcomes.size());
        assertEquals(Reason.RESOURCES, ((RdmaConnectException) outcomes.get(0)).reason());
    }

    /** Then it goes on with what it does, and so does the device. */
    @Test
    void shouldNotTakeAStandstillOfThisProcessForADeviceThatHangs() throws Exception {
        AtomicLong now = new AtomicLong();
        Makers makers = new Makers(now::get);
        CountDownLatch atWork = new CountDownLatch(1);
        makers.execute(verbs.device(), () -> {
            atWork.countDown();
            Threads.await(goOn, PATIENCE);
        });
        atWork.await();
        assertFalse(makers.waitLongFor(verbs.device()));
        now.addAndGet(TimeUnit.HOURS.toNanos(1));
        assertFalse(makers.waitLongFor(verbs.device()));
        now.addAndGet(TimeUnit.SECONDS.toNanos(1));
        assertFalse(makers.waitLongFor(verbs.device()));
        now.addAndGet(1);
        assertTrue(makers.waitLongFor(verbs.device()));
        goOn.countDown();
        assertTrue(makers.end(PATIENCE));
        assertFalse(makers.waitLongFor(verbs.device()));
    }
}
