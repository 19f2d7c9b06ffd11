/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.AdditionalAnswers.delegatesTo;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doReturn;
import static org.mockito.Mockito.mock;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.threads.ServiceLoop;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.jrsocket.verbs.VerbsUnavailableException.Reason;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** A host that has no RDMA, or none yet. */
class TransportHolderTest {

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 50);
    private final Queue<Runnable> looks = new ArrayDeque<>();
    private final TransportHolder holder =
            new TransportHolder(this::openVerbs, looks::add, now::get, this::startService);

    private Reason reason = Reason.NO_DEVICE;
    private VerbsProvider verbs;
    private int opened;

    private boolean poor; // no memory or no thread is to be had
    private boolean threadless; // no thread is
    private int started;

    private ServiceLoop.Owned startService() throws IOException {
        started++;
        if (threadless) {
            throw new OutOfMemoryError("unable to create native thread");
        }
        return RdmaTransport.startLoop();
    }

    private VerbsProvider openVerbs() throws VerbsUnavailableException {
        opened++;
        if (poor) {
            throw new OutOfMemoryError("unable to create native thread");
        }
        if (verbs == null) {
            throw new VerbsUnavailableException(reason, reason + ", as the test wants", null);
        }
        return verbs;
    }

    private Reason missing() {
        return reasonOf(holder::provider);
    }

    private static Reason reasonOf(Executable call) {
        return assertThrows(VerbsUnavailableException.class, () -> {
                    try {
                        call.execute();
                    } catch (OutOfMemoryError e) { // which would be the end of all tests here
                        throw new AssertionError(e);
                    }
                })
                .reason();
    }

    @Test
    void shouldNoticeADriverThatIsLoadedLater() throws Exception {
        assertEquals(Reason.NO_DEVICE, missing());
        try (LoopbackProvider late = new LoopbackProvider()) {
            verbs = late;
            now.addAndGet(HeldVerbs.LOOK_NANOS);
            assertEquals(Reason.NO_DEVICE, missing(), "no caller waits for a look");
            assertEquals(1, opened);
            assertFalse(holder.hasVerbs());
            looks.remove().run();
            assertSame(late, holder.provider());
            assertTrue(holder.hasVerbs());
            holder.transport().close();
        }
    }

    @Test
    void shouldLookSeldomAndOneAtATime() {
        for (int i = 0; i < 100; i++) {
            missing();
        }
        assertEquals(0, looks.size());
        now.addAndGet(HeldVerbs.LOOK_NANOS);
        for (int i = 0; i < 100; i++) {
            missing();
        }
        assertEquals(1, looks.size());
        now.addAndGet(HeldVerbs.LOOK_NANOS);
        missing();
        assertEquals(1, looks.size(), "it takes long");
        looks.remove().run();
        missing();
        assertEquals(0, looks.size());
        now.addAndGet(HeldVerbs.LOOK_NANOS);
        missing();
        assertEquals(1, looks.size());
        assertEquals(2, opened);
    }

    @Test
    void shouldSayWhatIsMissingNow() {
        assertEquals(Reason.NO_DEVICE, missing());
        reason = Reason.PERMISSION;
        now.addAndGet(HeldVerbs.LOOK_NANOS);
        missing();
        looks.remove().run();
        assertEquals(Reason.PERMISSION, missing());
    }

    @Test
    void shouldNotLookForWhatCannotCome() {
        reason = Reason.PLATFORM;
        missing();
        now.addAndGet(HeldVerbs.LOOK_NANOS);
        missing();
        assertEquals(0, looks.size());
    }

    /** The application asked for a socket, not for RDMA: it gets TCP. */
    @Test
    void shouldSayThatThereIsNoRdmaWhenMemoryIsShortAndLookAgain() throws Exception {
        poor = true;
        assertEquals(Reason.LIBRARY, missing());
        now.addAndGet(HeldVerbs.LOOK_NANOS);
        missing();
        try {
            looks.remove().run();
        } catch (OutOfMemoryError e) { // its thread's
            assertEquals(2, opened);
        }
        poor = false;
        try (LoopbackProvider late = new LoopbackProvider()) {
            verbs = late;
            now.addAndGet(HeldVerbs.LOOK_NANOS);
            missing();
            assertEquals(1, looks.size());
            looks.remove().run();
            assertSame(late, holder.provider());
        }
    }

    /** Such as a file name that the locale cannot have, or a right that a security manager does not give. */
    @Test
    void shouldSayThatThereIsNoRdmaWhateverKeepsVerbsFromOpening() {
        for (Throwable each : List.of(new IllegalArgumentException("odd name"), new NoClassDefFoundError("none"))) {
            TransportHolder failing = TransportHolder.opening(() -> {
                if (each instanceof RuntimeException runtime) {
                    throw runtime;
                }
                throw (Error) each;
            });
            VerbsUnavailableException e = assertThrows(VerbsUnavailableException.class, failing::provider);
            assertEquals("cannot open RDMA verbs: " + each, e.getMessage());
        }
    }

    @Test
    void shouldSayThatThereIsNoRdmaWhenNoThreadIsToBeHadForIt() throws Exception {
        try (LoopbackProvider real = new LoopbackProvider()) {
            AtomicBoolean first = new AtomicBoolean(true);
            verbs = mock(VerbsProvider.class, delegatesTo(real));
            doAnswer(call -> {
                        if (first.getAndSet(false)) {
                            throw new OutOfMemoryError("unable to create native thread");
                        }
                        return real.openCm();
                    })
                    .when(verbs)
                    .openCm();
            assertEquals(Reason.LIBRARY, reasonOf(holder::transport));
            holder.transport().close(); // threads have ended meanwhile
        }
    }

    @Test
    void shouldGoOnWhenNoThreadIsToBeHadForALook() {
        TransportHolder poor = new TransportHolder(
                this::openVerbs,
                task -> {
                    throw new OutOfMemoryError("unable to create native thread");
                },
                now::get,
                this::startService);
        for (int i = 0; i < 3; i++) {
            assertThrows(VerbsUnavailableException.class, poor::provider);
            now.addAndGet(HeldVerbs.LOOK_NANOS);
        }
        assertEquals(1, opened);
    }

    @Test
    void shouldHaveNoRdmaOnceItIsClosed() throws Exception {
        try (LoopbackProvider there = new LoopbackProvider()) {
            verbs = there;
            holder.transport();
            holder.close();
            there.assertClean();
            assertEquals(Reason.CLOSED, reasonOf(holder::transport));
            assertEquals(Reason.CLOSED, missing());
            assertFalse(holder.hasVerbs());
            now.addAndGet(HeldVerbs.LOOK_NANOS);
            missing();
            assertEquals(0, looks.size(), "nobody looks for it");
        }
    }

    /** For those who wait for a device, and wait for something else meanwhile. */
    @Test
    void shouldHaveOneServiceThreadBeforeAndAfterADeviceComes() throws Exception {
        ServiceLoop early = holder.service();
        assertSame(early, holder.service());
        assertEquals(Reason.NO_DEVICE, missing());
        assertTicks(early);
        try (LoopbackProvider late = new LoopbackProvider()) {
            verbs = late;
            now.addAndGet(HeldVerbs.LOOK_NANOS);
            missing();
            looks.remove().run();
            assertSame(early, holder.transport().service());
            assertSame(early, holder.service());
            assertTicks(early);
            holder.close();
            late.assertClean();
            assertEquals(Reason.CLOSED, reasonOf(holder::service));
        }
    }

    @Test
    void shouldKeepTheServiceThreadWhenTheTransportCannotBeOpened() throws Exception {
        ServiceLoop early = holder.service();
        try (LoopbackProvider real = new LoopbackProvider()) {
            Cm cm = mock(Cm.class, delegatesTo(real.openCm()));
            AtomicBoolean first = new AtomicBoolean(true);
            doAnswer(call -> {
                        if (first.getAndSet(false)) {
                            throw new IOException("too many open files");
                        }
                        return ((Cm) real.openCm()).createEventChannel();
                    })
                    .when(cm)
                    .createEventChannel();
            verbs = mock(VerbsProvider.class, delegatesTo(real));
            doReturn(cm).when(verbs).openCm();
            assertEquals(Reason.LIBRARY, reasonOf(holder::transport));
            assertTicks(early);
            assertSame(early, holder.transport().service());
            holder.close();
        }
    }

    @Test
    void shouldEndTheServiceThreadThatNoTransportHasTaken() throws Exception {
        AtomicReference<Thread> thread = new AtomicReference<>();
        CountDownLatch ran = new CountDownLatch(1);
        holder.service().execute(() -> {
            thread.set(Thread.currentThread());
            ran.countDown();
        });
        ran.await();
        holder.close();
        thread.get().join();
        assertEquals(Reason.CLOSED, reasonOf(holder::service));
    }

    private static void assertTicks(ServiceLoop loop) throws InterruptedException {
        CountDownLatch ran = new CountDownLatch(1);
        loop.schedule(ran::countDown, 1);
        assertTrue(ran.await(1, TimeUnit.MINUTES));
    }

    @Test
    void shouldStayClosedWhateverALookFinds() throws Exception {
        missing();
        now.addAndGet(HeldVerbs.LOOK_NANOS);
        missing();
        holder.close();
        try (LoopbackProvider late = new LoopbackProvider()) {
            verbs = late;
            looks.remove().run();
            assertEquals(Reason.CLOSED, missing());
        }
    }

    /** The JVM prints a line on stdout for each thread that it cannot create. */
    @Test
    void shouldTryToStartTheServiceThreadOnceASecond() throws Exception {
        try (LoopbackProvider provider = new LoopbackProvider()) {
            verbs = provider;
            threadless = true;
            for (int i = 0; i < 10; i++) {
                assertEquals(Reason.LIBRARY, reasonOf(holder::transport));
            }
            assertEquals(1, started);
            threadless = false;
            now.addAndGet(TimeUnit.SECONDS.toNanos(1));
            holder.transport();
            assertEquals(2, started);
            holder.close();
        }
    }
}
