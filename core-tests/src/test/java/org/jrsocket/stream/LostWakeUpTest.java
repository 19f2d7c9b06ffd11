/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrsocket.endpoint.Bundle;
import org.jrsocket.stream.HookedVerbs.Point;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The race that every arm-and-sleep has: a completion that comes in the wrong instant raises no event, and who sleeps
 * then sleeps for ever. A hook in the completion queue lets the one completion that there will be arrive exactly
 * <ul>
 * <li>before the queue is armed, after it was found empty ({@link Point#BEFORE_ARM}): no event is raised, only the poll
 * after arming can find it;
 * <li>after it is armed, before it is polled again ({@link Point#AFTER_ARM});
 * <li>after that poll, before the sleep ({@link Point#AFTER_POLL}): the event must end the sleep at once.
 * </ul>
 * With the poll after arming taken out of {@link StreamCore#armAndPoll} the tests fail, for want of a wake-up within
 * seconds. Nothing else is under way that could wake anybody by chance.
 */
class LostWakeUpTest extends RawPeerTests {

    private static final long SOON = Integer.getInteger("jrsocket.test.soon", 20);

    private HookedVerbs hooked;

    @Override
    VerbsProvider wrap(LoopbackProvider provider) {
        hooked = new HookedVerbs(provider);
        return hooked;
    }

    static List<Arguments> pointsAndThreads() {
        List<Arguments> all = new ArrayList<>();
        for (boolean virtual : new boolean[] {false, true}) {
            for (Point point : new Point[] {Point.BEFORE_ARM, Point.AFTER_ARM, Point.AFTER_POLL}) {
                all.add(Arguments.of(point, virtual));
            }
        }
        return all;
    }

    /** Runs {@code arrival} once, in the thread that sleeps next, at that point of its way to sleep. */
    private void arrive(Point point, int cookie, Body arrival) {
        AtomicBoolean armed = new AtomicBoolean();
        AtomicBoolean done = new AtomicBoolean();
        hooked.hook = (at, queue) -> {
            if (queue != cookie || Thread.currentThread().getName().startsWith("jrsocket-")) {
                return;
            }
            if (at == Point.AFTER_ARM) {
                armed.set(true);
            }
            if (at == point && (point != Point.AFTER_POLL || armed.get()) && done.compareAndSet(false, true)) {
                try {
                    arrival.run();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }
        };
    }

    private static <T> Future<T> run(boolean virtual, Callable<T> task) throws Exception {
        FutureTask<T> future = new FutureTask<>(task);
        if (virtual) {
            try {
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, future);
            } catch (NoSuchMethodException | UnsupportedOperationException e) {
                Assumptions.abort("no virtual threads here");
            }
        } else {
            Thread thread = new Thread(future, "sleeper");
            thread.setDaemon(true);
            thread.start();
        }
        return future;
    }

    @ParameterizedTest
    @MethodSource("pointsAndThreads")
    void shouldNotLoseTheWakeUpOfAReader(Point point, boolean virtual) throws Exception {
        Link l = link(Role.PASSIVE);
        arrive(point, Bundle.RECV_COOKIE, () -> l.peer().data((byte) 42));
        Future<Integer> reader = run(virtual, () -> l.stream().read(new byte[1], 0, 1, 0));
        assertEquals(1, reader.get(SOON, TimeUnit.SECONDS));
    }

    /** The end of the stream is news like data. */
    @ParameterizedTest
    @MethodSource("pointsAndThreads")
    void shouldNotLoseTheEndOfTheStream(Point point, boolean virtual) throws Exception {
        Link l = link(Role.ACTIVE);
        arrive(point, Bundle.RECV_COOKIE, () -> l.peer().ctrl(Imm.CTRL_SHUTDOWN));
        Future<Integer> reader = run(virtual, () -> l.stream().read(new byte[1], 0, 1, 0));
        assertEquals(-1, reader.get(SOON, TimeUnit.SECONDS));
    }

    /** A writer that waits for its peer is woken by a grant, which comes on the receive queue. */
    @ParameterizedTest
    @MethodSource("pointsAndThreads")
    void shouldNotLoseTheGrantThatAWriterWaitsFor(Point point, boolean virtual) throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(4096), CONFIG.withBuffers(4096, 8192));
        arrive(point, Bundle.RECV_COOKIE, () -> l.peer().grantRing(4096, 4096));
        Future<Boolean> writer = run(virtual, () -> {
            l.stream().write(new byte[12_000], 0, 12_000, 0);
            return true;
        });
        assertEquals(true, writer.get(SOON, TimeUnit.SECONDS));
        assertEquals(8192, l.peer().dataBytes());
    }

    /** A writer that waits for room in its own ring is woken by a completion of its own. */
    @ParameterizedTest
    @MethodSource("pointsAndThreads")
    void shouldNotLoseTheAcknowledgementThatAWriterWaitsFor(Point point, boolean virtual) throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT, CONFIG.withBuffers(4096, 8192));
        verbs.faults().holdAcks(true);
        arrive(point, Bundle.SEND_COOKIE, () -> verbs.faults().holdAcks(false));
        Future<Boolean> writer = run(virtual, () -> {
            l.stream().write(new byte[12_000], 0, 12_000, 0);
            return true;
        });
        assertEquals(true, writer.get(SOON, TimeUnit.SECONDS));
    }

    /**
     * What the poll after arming sends is acknowledged later. When the queues were armed nothing was on its way, so
     * that no completion could be in the send queue. The service thread, which looks at all streams every few seconds,
     * is kept from it.
     */
    @Test
    void shouldNotLoseTheAcknowledgementOfWhatIsSentWhileArming() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(4096), CONFIG.withBuffers(4096, 8192));
        CountDownLatch free = new CountDownLatch(1);
        keepTheServiceThreadBusy(free);
        arrive(Point.BEFORE_ARM, Bundle.RECV_COOKIE, () -> {
            verbs.faults().holdAcks(true);
            l.peer().grantRing(4096, 4096);
        });
        Future<Boolean> writer = run(false, () -> {
            l.stream().write(new byte[12_000], 0, 12_000, 0);
            return true;
        });
        RawPeer.await(
                () -> l.peer().dataBytes() == 8192, () -> "only " + l.peer().dataBytes() + " bytes came");
        verbs.faults().holdAcks(false);
        assertEquals(true, writer.get(SOON, TimeUnit.SECONDS));
        free.countDown();
    }

    /**
     * The same while somebody else comes and goes with the lock: a poll that gives way to another thread is not the
     * poll that must follow arming.
     */
    @Test
    void shouldNotGiveWayToAnotherThreadBetweenArmingAndSleeping() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        try {
            for (int round = 0; round < 40; round++) {
                Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT, CONFIG.withBuffers(4096, 8192));
                StreamCore core = l.stream().core();
                AtomicBoolean over = new AtomicBoolean();
                Future<?> nuisance = background(() -> {
                    while (!over.get() && !stop.get()) {
                        core.enter();
                        for (int i = 0; i < 50; i++) {
                            Thread.onSpinWait();
                        }
                        core.exit();
                    }
                    return null;
                });
                verbs.faults().holdAcks(true);
                arrive(Point.BEFORE_ARM, Bundle.SEND_COOKIE, () -> verbs.faults()
                        .holdAcks(false));
                Future<Boolean> writer = run(false, () -> {
                    l.stream().write(new byte[8_000], 0, 8_000, 0);
                    return true;
                });
                assertEquals(true, writer.get(SOON, TimeUnit.SECONDS), "round " + round);
                over.set(true);
                get(nuisance);
                l.peer().close();
                l.stream().close();
            }
        } finally {
            stop.set(true);
        }
    }

    /**
     * What a writer left behind is the service thread's to send when the peer grants. A selector that takes the
     * channel's events, and then does not look again for long, must not leave the queues unarmed with nobody to look:
     * the service thread is told.
     */
    @Test
    void shouldSendWhatIsLeftAlthoughASelectorTookTheEvent() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(100), CONFIG.withBuffers(4096, 8192));
        CountDownLatch watched = new CountDownLatch(1);
        hooked.hook = (at, queue) -> {
            if (at == Point.AFTER_ARM
                    && queue == Bundle.SEND_COOKIE
                    && Thread.currentThread().getName().equals("jrsocket-service")) {
                watched.countDown();
            }
        };
        l.stream().write(new byte[300], 0, 300, PATIENCE);
        watched.await();
        CountDownLatch free = new CountDownLatch(1);
        keepTheServiceThreadBusy(free);
        l.peer().data((byte) 1);
        l.stream().takeEvent();
        free.countDown();
        passTheServiceThread();
        l.peer().grantRing(100, 100);
        RawPeer.await(
                () -> l.peer().dataBytes() == 200, () -> "only " + l.peer().dataBytes() + " bytes came");
        l.peer().grantRing(0, 100);
        RawPeer.await(
                () -> l.peer().dataBytes() == 300, () -> "only " + l.peer().dataBytes() + " bytes came");
    }
}
