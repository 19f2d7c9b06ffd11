/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.endpoint.Bundle;
import org.jrsocket.stream.HookedVerbs.Point;
import org.jrsocket.threads.ServiceLoop;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Test;
import org.mockito.ArgumentCaptor;

/** What closed streams may cost while their peers take nothing, or send without end. */
class ClosingsTest extends RawPeerTests {

    private static final int NEVER = Integer.MAX_VALUE;
    private static final int RESET = Imm.ctrl(Imm.CTRL_RESET);
    private static final int DISCONNECT = Imm.ctrl(Imm.CTRL_DISCONNECT);
    private static final RawPeer.Spec NO_ROOM = RawPeer.Spec.DEFAULT.half(0).ours();

    private HookedVerbs hooked;

    @Override
    VerbsProvider wrap(LoopbackProvider provider) {
        hooked = new HookedVerbs(provider);
        return hooked;
    }

    /** Closed, with ten bytes that nobody takes. */
    private List<Link> starved(int count) throws IOException {
        List<Link> links = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Link l = link(Role.ACTIVE, NO_ROOM);
            l.stream().write(bytes(10), 0, 10, PATIENCE);
            links.add(l);
        }
        for (Link l : links) {
            l.stream().close();
        }
        return links;
    }

    @Test
    void shouldResetTheOldestOfTooManyWhosePeersTakeNothing() throws Exception {
        transport.limitClosing(3);
        transport.services().closings.patience(NEVER, 100);
        List<String> warnings = warningsIn(() -> {
            List<Link> links = starved(5);
            look(links, 99);
            assertFalse(isStuck(links.get(0), 100), "it has a look left");
            transport.services().closings.patience(NEVER, 0);
            RawPeer.await(() -> transport.liveStreams() == 3, () -> transport.liveStreams() + " streams are left");
            for (int i = 0; i < 5; i++) {
                assertEquals(i < 2, links.get(i).peer().has(RESET), "stream " + i);
                assertEquals(i < 2, links.get(i).peer().has(DISCONNECT), "stream " + i);
            }
            for (Link l : links.subList(2, 5)) { // the others are delivered still
                l.peer().grant(l.peer().ringAddress() - 1000, l.peer().raw.mr.getRkey(), 10);
                assertTrue(l.stream().awaitDrained(PATIENCE));
                assertEquals(10, l.peer().dataBytes());
                assertFalse(l.peer().has(RESET));
            }
            peers.clear(); // where they had the data written is no ring
            for (Link l : links) {
                overwriteGuards(l);
                l.peer().close();
            }
        });
        assertEquals(1, warnings.size(), warnings.toString());
        assertTrue(warnings.get(0).contains("close.max"), warnings.toString());
    }

    /** However much their peers may take at other times. */
    @Test
    void shouldResetTheOldestOfFarTooManyAtOnce() throws Exception {
        transport.limitClosing(1);
        transport.services().closings.patience(NEVER, NEVER);
        List<Link> links = starved(18);
        RawPeer.await(() -> transport.liveStreams() == 16, () -> transport.liveStreams() + " streams are left");
        for (int i = 0; i < 18; i++) {
            assertEquals(i < 2, links.get(i).peer().has(RESET), "stream " + i);
        }
        links.forEach(l -> l.stream().abort());
    }

    private static void overwriteGuards(Link l) {
        for (int i = 2 * 16; i < RawPeer.RING; i++) {
            l.peer().raw.memory.buffer().put(i, RawPeer.GUARD);
        }
    }

    /** Those that only wait for acknowledgements have all that their peers can give, who are not to blame. */
    @Test
    void shouldLeaveAloneThoseWhosePeersHaveTakenEverything() throws Exception {
        transport.limitClosing(0);
        transport.services().closings.patience(NEVER, 0);
        List<Link> links = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            links.add(link(Role.ACTIVE, RawPeer.Spec.DEFAULT.ours()));
        }
        verbs.faults().holdAcks(true);
        for (Link l : links) {
            l.stream().write(bytes(10), 0, 10, PATIENCE);
            l.stream().close();
        }
        Thread.sleep(1200); // more than two looks
        verbs.faults().holdAcks(false);
        for (Link l : links) {
            assertTrue(l.stream().awaitDrained(PATIENCE));
            assertEquals(10, l.peer().dataBytes());
            assertFalse(l.peer().has(RESET));
        }
    }

    /** It reads what it has got, and must not take that for all. */
    @Test
    void shouldTellThePeerWhenItHasTakenNothingForTooLong() throws Exception {
        transport.services().closings.patience(3, NEVER);
        List<String> warnings = warningsIn(() -> {
            Link l = starved(1).get(0);
            RawPeer.await(() -> transport.liveStreams() == 0, () -> "it waits for a peer that takes nothing");
            assertTrue(l.peer().has(RESET));
            assertTrue(l.peer().has(DISCONNECT));
        });
        assertEquals(1, warnings.size(), warnings.toString());
        assertTrue(warnings.get(0).contains("has taken nothing for 1 s"), warnings.toString());
    }

    /** As with TCP: how long it takes in all does not count. */
    @Test
    void shouldKeepTryingWhileThePeerTakesSomething() throws Exception {
        transport.services().closings.patience(1000, 1000);
        Link l = link(Role.ACTIVE, RawPeer.Spec.DEFAULT.half(100).ours());
        l.stream().write(bytes(500), 0, 500, PATIENCE);
        l.stream().close();
        for (int i = 0; i < 4; i++) {
            look(List.of(l), 900);
            assertFalse(isStuck(l, 1000), "it has taken something since the last round");
            assertFalse(l.stream().awaitDrained(1));
            l.peer().grantRing(i % 2 * 100, 100);
            int bytes = (i + 2) * 100;
            RawPeer.await(
                    () -> l.peer().dataBytes() == bytes,
                    () -> "only " + l.peer().dataBytes());
        }
        assertTrue(l.stream().awaitDrained(PATIENCE));
        assertFalse(l.peer().has(RESET));
    }

    /** It gives no room, so nothing is on its way to it that would fail. */
    @Test
    void shouldNoticeThatThePeerIsDead() throws Exception {
        transport.services().closings.patience(NEVER, NEVER);
        Link l = starved(1).get(0);
        passTheServiceThread();
        verbs.faults().breakAfter(0);
        look(List.of(l), 40);
        RawPeer.await(() -> transport.liveStreams() == 0, () -> "it waits for a peer that is dead");
    }

    /** It waits for the device, although the peer has room for it. */
    @Test
    void shouldDropWhatHasNotBeenSentInAReset() throws Exception {
        Link l = link(Role.ACTIVE, RawPeer.Spec.DEFAULT.ours());
        verbs.faults().holdAcks(true);
        for (int i = 0; i < 100; i++) {
            l.stream().write(bytes(10), 0, 10, PATIENCE);
        }
        l.stream().abort();
        verbs.faults().holdAcks(false);
        RawPeer.await(() -> l.peer().has(DISCONNECT), () -> "no end came");
        assertTrue(l.peer().has(RESET));
        assertTrue(l.peer().dataBytes() < 1000, () -> l.peer().dataBytes() + " bytes came");
    }

    /** The device repeats what it has sent, and this side has nothing more to say. */
    @Test
    void shouldNotWaitForLongUntilThePeerHasHeardOfAReset() throws Exception {
        transport.services().closings.patience(NEVER, NEVER);
        Link l = link(Role.ACTIVE, RawPeer.Spec.DEFAULT.ours());
        l.peer().data((byte) 1);
        RawPeer.await(() -> l.stream().core().hasInput(), () -> "nothing has come");
        verbs.faults().holdAcks(true);
        l.stream().close(); // with unread data
        passTheServiceThread();
        look(List.of(l), 70);
        RawPeer.await(() -> transport.liveStreams() == 0, () -> "it waits");
    }

    /** Nothing else would end this one: it waits neither for the application nor for room. */
    @Test
    void shouldNoticeThatTheDeviceIsSilent() throws Exception {
        transport.services().closings.patience(NEVER, NEVER);
        Link l = link(Role.ACTIVE, RawPeer.Spec.DEFAULT.ours());
        verbs.faults().holdAcks(true);
        l.stream().write(bytes(10), 0, 10, PATIENCE);
        l.stream().close();
        passTheServiceThread();
        onServiceThread(() -> {
            for (int i = 0; i <= DeviceSilence.MOST_LOOKS; i++) {
                l.stream().core().sweep.look();
            }
        });
        RawPeer.await(() -> transport.liveStreams() == 0, () -> "it waits for a device that says nothing");
    }

    private boolean isStuck(Link l, int looks) throws Exception {
        return CompletableFuture.supplyAsync(
                        () -> l.stream().closing().isStuck(looks, false), transport.service()::execute)
                .get(60, TimeUnit.SECONDS);
    }

    private void look(List<Link> links, int times) throws Exception {
        onServiceThread(() -> {
            for (int i = 0; i < times; i++) {
                links.forEach(l -> l.stream().closing().look());
            }
        });
    }

    /** The service thread serves all: one peer that says nothing, and says it all the time, loses its connection. */
    @Test
    void shouldEndACloseWhosePeerFloods() throws Exception {
        Link l = link(Role.ACTIVE, RawPeer.Spec.DEFAULT.half(100).ours());
        l.stream().write(bytes(300), 0, 300, PATIENCE);
        l.stream().close();
        l.peer().grantRing(100, 100); // the peer takes something: it is not that which ends it
        RawPeer.await(
                () -> l.peer().dataBytes() == 200, () -> "only " + l.peer().dataBytes());
        flood(l);
        RawPeer.await(() -> transport.liveStreams() == 0, () -> "the flood goes on");
    }

    /** The same while the service thread waits for room on behalf of a writer that left. */
    @Test
    void shouldResetAStreamWhoseLeftoversItWatchesAndWhosePeerFloods() throws Exception {
        Link l = link(Role.ACTIVE, RawPeer.Spec.DEFAULT.half(100).ours());
        CountDownLatch watched = new CountDownLatch(1);
        hooked.hook = (at, queue) -> {
            if (at == Point.AFTER_ARM
                    && queue == Bundle.SEND_COOKIE
                    && Thread.currentThread().getName().equals("jrsocket-service")) {
                watched.countDown();
            }
        };
        l.stream().write(bytes(300), 0, 300, PATIENCE);
        watched.await();
        List<String> warnings = warningsIn(() -> {
            flood(l);
            RawPeer.await(() -> transport.liveStreams() == 0, () -> "the flood goes on");
        });
        assertEquals(1, warnings.size(), warnings.toString());
        assertTrue(warnings.get(0).contains("without content"), warnings.toString());
        l.stream().close();
    }

    /** At every look of the service thread there is more. */
    private void flood(Link l) throws IOException {
        hooked.hook = (at, cookie) -> {
            if (at == Point.BEFORE_POLL
                    && cookie == Bundle.RECV_COOKIE
                    && Thread.currentThread().getName().equals("jrsocket-service")) {
                try {
                    while (l.peer().inFlight() < 40
                            && posted() > 40
                            && l.peer()
                                    .post(
                                            SendBatch.RDMA_WRITE_WITH_IMM,
                                            Imm.sgl(l.peer().spec.credits()),
                                            0,
                                            0)
                            && l.peer().reap()) {
                        // until the receives are used up, or nearly
                    }
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }
        };
        l.peer().credit(l.peer().spec.credits());
    }

    /** One that fails is tried again, and the time limits of the others hold. */
    @Test
    void shouldLookAfterTheOthersWhenOneMakesTrouble() throws Exception {
        ServiceLoop timer = mock(ServiceLoop.class);
        when(timer.scheduleAgain(any(), anyLong())).thenCallRealMethod();
        Closings closings = new Closings(timer);
        List<Link> links = starved(2);
        onServiceThread(() -> links.forEach(l -> closings.add(l.stream().closing())));
        for (int round = 1; round <= 3; round++) {
            AtomicInteger looks = new AtomicInteger();
            Runnable check = nextCheck(timer, round);
            List<String> errors = warningsIn(() -> onServiceThread(() -> {
                hooked.hook = (at, cookie) -> {
                    if (at == Point.BEFORE_POLL && cookie == Bundle.RECV_COOKIE) {
                        looks.incrementAndGet();
                        throw new IllegalStateException("as the test wants");
                    }
                };
                check.run();
                hooked.hook = (at, cookie) -> {};
            }));
            assertEquals(2, looks.get());
            assertEquals(2, errors.size(), errors.toString());
        }
        for (Link l : links) {
            l.stream().abort();
        }
        RawPeer.await(() -> transport.liveStreams() == 0, () -> "not freed");
        onServiceThread(nextCheck(timer, 4));
        verify(timer, times(4).description("they are over")).schedule(any(), anyLong());
    }

    private static Runnable nextCheck(ServiceLoop timer, int number) {
        ArgumentCaptor<Runnable> check = ArgumentCaptor.forClass(Runnable.class);
        verify(timer, times(number)).schedule(check.capture(), anyLong());
        return check.getValue();
    }

    private void onServiceThread(Runnable task) throws Exception {
        CompletableFuture.runAsync(task, transport.service()::execute).get(60, TimeUnit.SECONDS);
    }

    private int posted() {
        return verbs.qps().stream()
                .filter(qp -> peers.stream().noneMatch(peer -> peer.qp() == qp))
                .mapToInt(qp -> qp.postedReceives())
                .max()
                .orElse(0);
    }
}
