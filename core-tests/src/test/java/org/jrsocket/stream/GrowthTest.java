/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.endpoint.Slabs;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.stream.HookedVerbs.Point;
import org.jrsocket.threads.ServiceThread;
import org.jrsocket.threads.Threads;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.spi.LocationAwareLogger;

/**
 * A stream's memory grows and shrinks by calls of the kernel, which may hang for a minute. They hold up the thread that
 * makes them, and nobody else who uses the stream.
 */
class GrowthTest extends RawPeerTests {

    private static final StreamConfig DEFAULT = StreamConfig.DEFAULT.withSpinNanos(0);

    private final CountDownLatch answer = new CountDownLatch(1);
    private final CountDownLatch called = new CountDownLatch(1);
    private HookedVerbs hooked;

    @Override
    VerbsProvider wrap(LoopbackProvider provider) {
        hooked = new HookedVerbs(provider);
        return hooked;
    }

    /** Also for a test that fails. */
    @AfterEach
    void answerAtLast() {
        answer.countDown();
    }

    /** The next such call hangs. */
    private void hang(Point point) {
        AtomicBoolean first = new AtomicBoolean(true);
        hooked.hook = (at, cookie) -> {
            if (at == point && first.getAndSet(false)) {
                called.countDown();
                Threads.await(answer, PATIENCE);
            }
        };
    }

    private StreamPair pair() throws IOException {
        return later(StreamPair.connect(transport, HERE, DEFAULT));
    }

    private Future<Integer> writes(RdmaStream stream, int count) {
        return background(() -> {
            stream.write(bytes(count), 0, count, PATIENCE);
            return count;
        });
    }

    private Future<Integer> hangingWriter(StreamPair p) {
        hang(Point.BEFORE_REGISTER);
        Future<Integer> writer = writes(p.client, 100_000);
        assertTrue(Threads.await(called, PATIENCE));
        return writer;
    }

    /** It reads short pieces, so that it is not inside when it has read what makes the memory grow. */
    private Future<Integer> hangingReader(StreamPair p) {
        transport.limitMemory(1); // the writer does without
        Future<Integer> writer = writes(p.client, 100_000);
        RawPeer.await(() -> p.client.core().out.posted() >= 16_384, () -> "not sent");
        assertFalse(writer.isDone());
        transport.limitMemory(Long.MAX_VALUE);
        hooked.hook = (at, cookie) -> {};
        RawPeer.await(
                () -> {
                    p.server.poll();
                    return p.server.core().in.readable() == 16_384;
                },
                () -> "not arrived");
        AtomicBoolean first = new AtomicBoolean(true);
        Thread[] reader = new Thread[1];
        hooked.hook = (at, cookie) -> {
            if (at == Point.BEFORE_REGISTER && Thread.currentThread() == reader[0] && first.getAndSet(false)) {
                called.countDown();
                Threads.await(answer, PATIENCE);
            }
        };
        Future<Integer> read = background(() -> {
            reader[0] = Thread.currentThread();
            int sum = 0;
            while (called.getCount() > 0) {
                sum += p.server.read(new byte[1024], 0, 1024, PATIENCE);
            }
            return sum;
        });
        assertTrue(Threads.await(called, PATIENCE));
        assertFalse(read.isDone());
        return read;
    }

    private static void assertInUse(RdmaStream stream, RdmaStream peer) throws Exception {
        peer.write(bytes(100), 0, 100, PATIENCE);
        assertArrayEquals(bytes(100), read(stream, 100)); // by another thread
        stream.poll();
        stream.arm(true); // as a selector
        stream.takeEvent();
        assertTrue(stream.isOpen());
        assertTrue(stream.core().sweep.look()); // which leaves out a stream whose lock is taken
    }

    @Test
    void shouldBeUsedByOthersWhileTheWritersMemoryIsRegistered() throws Exception {
        StreamPair p = pair();
        Future<Integer> writer = hangingWriter(p);
        assertInUse(p.client, p.server);
        assertFalse(writer.isDone());
        answer.countDown();
        assertArrayEquals(bytes(100_000), read(p.server, 100_000));
        assertEquals(100_000, get(writer));
        assertTrue(p.client.registeredBytes() > DEFAULT.leastBytes());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldBeClosedWhileTheWritersMemoryIsRegistered(boolean hard) throws Exception {
        StreamPair p = pair();
        Future<Integer> writer = hangingWriter(p);
        if (hard) {
            p.client.abort();
        } else {
            p.client.close();
        }
        assertFalse(p.client.isOpen());
        assertFalse(writer.isDone());
        answer.countDown();
        SocketException e = (SocketException)
                assertThrows(ExecutionException.class, () -> get(writer)).getCause();
        assertEquals("Socket closed", e.getMessage());
        p.server.close();
        RawPeer.await(p.client::isFreed, () -> "not freed");
    }

    @Test
    void shouldBeReadByOthersWhileTheReadersMemoryIsRegistered() throws Exception {
        StreamPair p = pair();
        Future<Integer> reader = hangingReader(p);
        assertEquals(8192, read(p.server, 8192).length); // what was granted before
        p.server.write(bytes(100), 0, 100, PATIENCE);
        assertArrayEquals(bytes(100), read(p.client, 100));
        answer.countDown();
        read(p.server, 100_000 - 8192 - get(reader));
        assertTrue(p.server.registeredBytes() > DEFAULT.leastBytes());
    }

    /** Nothing must be used that is being freed, and nothing must be left. */
    @Test
    void shouldBeClosedWhileTheReadersMemoryIsRegistered() throws Exception {
        StreamPair p = pair();
        Future<Integer> reader = hangingReader(p);
        p.server.abort();
        assertTrue(p.server.awaitDrained(PATIENCE));
        RawPeer.await(() -> verbs.liveObjects().qps() < 2, () -> "its queue pair is still there");
        answer.countDown();
        assertTrue(get(reader) > 0);
        RawPeer.await(p.server::isFreed, () -> "not freed");
    }

    @Test
    void shouldEndWithItsDeviceWhileMemoryIsRegistered() throws Exception {
        StreamPair p = pair();
        StreamPair others = pair();
        Future<Integer> writer = hangingWriter(p);
        verbs.faults().removeDevice(verbs.device());
        for (RdmaStream each : List.of(others.client, others.server, p.client, p.server)) {
            RawPeer.await(() -> each.core().failure != null, () -> each + " has not failed");
        }
        assertFalse(writer.isDone());
        answer.countDown();
        assertThrows(ExecutionException.class, () -> get(writer));
    }

    /** It is there for all devices. */
    @Test
    void shouldNotBeRegisteredByTheServiceThread() throws Exception {
        StreamPair p = pair();
        Future<Integer> writer = writes(p.client, 1 << 20);
        List<String> registering = new CopyOnWriteArrayList<>();
        hooked.hook = (at, cookie) -> {
            if (at == Point.BEFORE_REGISTER) {
                registering.add(Thread.currentThread().getName());
            }
        };
        CountDownLatch done = new CountDownLatch(1);
        transport.service().execute(new Runnable() {
            @Override
            public void run() {
                try {
                    p.server.read(ByteBuffer.allocate(64 << 10));
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
                if (p.server.bytesRead() < 1 << 20) {
                    transport.service().schedule(this, 100_000); // it also sends what the writer has left
                } else {
                    done.countDown();
                }
            }
        });
        assertTrue(Threads.await(done, PATIENCE));
        get(writer);
        assertTrue(p.server.registeredBytes() > DEFAULT.leastBytes());
        assertTrue(registering.contains("jrsocket-reaper lo0"), registering.toString());
        assertFalse(registering.contains(ServiceThread.NAME), registering.toString());
    }

    @Test
    void shouldBeUsedByOthersWhileLentMemoryIsRegistered() throws Exception {
        StreamPair p = pair();
        hang(Point.BEFORE_REGISTER);
        Future<LentMemory> lender = background(() -> p.client.register(ByteBuffer.allocateDirect(4096)));
        assertTrue(Threads.await(called, PATIENCE));
        assertInUse(p.client, p.server);
        answer.countDown();
        p.client.writeLent(get(lender), 0, 4096);
        assertEquals(4096, read(p.server, 4096).length);
    }

    @Test
    void shouldBeClosedWhileLentMemoryIsRegistered() throws Exception {
        StreamPair p = pair();
        hang(Point.BEFORE_REGISTER);
        Future<LentMemory> lender = background(() -> p.client.register(ByteBuffer.allocateDirect(4096)));
        assertTrue(Threads.await(called, PATIENCE));
        p.client.close();
        answer.countDown();
        LentMemory memory = get(lender);
        RawPeer.await(p.client::isFreed, () -> "not freed");
        assertTrue(memory.end());
    }

    @Test
    void shouldRegisterNothingForAStreamThatHasEnded() throws Exception {
        StreamPair p = pair();
        p.client.close();
        RawPeer.await(p.client::isFreed, () -> "not freed");
        SocketException e = assertThrows(
                SocketException.class, () -> LentMemory.register(p.client.core(), ByteBuffer.allocateDirect(16)));
        assertEquals("Socket closed", e.getMessage());
    }

    @Test
    void shouldBeUsedByOthersWhileARegistrationIsEnded() throws Exception {
        StreamPair p = pair();
        LentMemory memory = p.client.register(ByteBuffer.allocateDirect(4096));
        hang(Point.BEFORE_DEREGISTER);
        Future<Boolean> end = background(memory::end);
        assertTrue(Threads.await(called, PATIENCE));
        assertInUse(p.client, p.server);
        assertFalse(memory.end(), "its memory may be freed, while the device may use it");
        answer.countDown();
        assertTrue(get(end));
        assertTrue(memory.end());
    }

    @Test
    void shouldBeUsedByOthersWhileItShrinks() throws Exception {
        StreamPair p = pair();
        Future<Integer> writer = writes(p.client, 4 << 20);
        read(p.server, 4 << 20);
        get(writer);
        assertTrue(p.client.registeredBytes() > DEFAULT.leastBytes());
        hang(Point.BEFORE_DEREGISTER);
        RawPeer.await(
                () -> {
                    p.client.core().sweep.look();
                    return called.getCount() == 0;
                },
                () -> "nothing is given back");
        assertInUse(p.client, p.server);
        answer.countDown();
        p.client.close();
        RawPeer.await(p.client::isFreed, () -> "not freed");
    }

    /** Of sizes that are not whole pages, too: what is refused is not asked for again and again. */
    @Test
    void shouldGoOnWithWhatItHasWhileThereIsNoMoreMemory() throws Exception {
        StreamConfig odd = DEFAULT.withBuffers(102_400, 102_400);
        StreamPair p = later(StreamPair.connect(transport, HERE, odd));
        transport.limitMemory(transport.registeredMemory() + 4095); // so it is not used up, either
        Future<Integer> writer = writes(p.client, 1 << 20);
        assertArrayEquals(bytes(1 << 20), get(background(() -> read(p.server, 1 << 20))));
        assertEquals(1 << 20, get(writer));
        assertEquals(odd.leastBytes(), p.server.registeredBytes());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldGoOnAfterAnErrorAndGrowLater(boolean error) throws Exception {
        StreamPair p = pair();
        AtomicBoolean first = new AtomicBoolean(true);
        hooked.hook = (at, cookie) -> {
            if (at == Point.BEFORE_REGISTER && first.getAndSet(false)) {
                if (error) {
                    throw new StackOverflowError("a test's");
                }
                throw new IllegalStateException("a test's");
            }
        };
        Future<Integer> writer = writes(p.client, 4 << 20);
        assertArrayEquals(bytes(4 << 20), get(background(() -> read(p.server, 4 << 20))));
        assertEquals(4 << 20, get(writer));
        assertFalse(first.get());
        assertTrue(p.client.registeredBytes() > DEFAULT.leastBytes());
        assertTrue(p.server.registeredBytes() > DEFAULT.leastBytes());
    }

    @Test
    void shouldGrowThoughAnObserverFails() throws Exception {
        StreamPair p = pair();
        transport.limitMemory(1); // the writer does without
        Future<Integer> writer = writes(p.client, 100_000);
        RawPeer.await(() -> p.client.core().out.posted() >= 16_384, () -> "not sent");
        transport.limitMemory(Long.MAX_VALUE);
        IllegalStateException failed = new IllegalStateException("a test's");
        p.server.observe(() -> {
            throw failed;
        });
        assertSame(failed, assertThrows(IllegalStateException.class, p.server::available));
        p.server.observe(null);
        RawPeer.await(() -> available(p.server) > 16_384, () -> "no more than the least memory");
        read(p.server, 100_000);
        get(writer);
    }

    /** The peer may have closed, too: then each end has data left, and waits for the other's grant. */
    @Test
    void shouldGrantThePeerWhatItHasFilledAfterACloseWithDataLeft() throws Exception {
        StreamPair p = pair();
        p.server.write(bytes(20_000), 0, 20_000, PATIENCE); // more than it is granted
        Future<Integer> reader = hangingReader(p);
        read(p.server, p.server.available());
        p.server.close();
        answer.countDown();
        get(reader);
        RawPeer.await(() -> p.server.core().in.readable() > 0, () -> "no grant");
    }

    /** Otherwise a stream whose acknowledgements others take would register and free memory again and again. */
    @Test
    void shouldKeepTheWritersMemoryThoughSomeBecameFreeMeanwhile() throws Exception {
        StreamPair p = pair();
        Thread[] writing = new Thread[1];
        AtomicInteger registered = new AtomicInteger();
        hooked.hook = (at, cookie) -> {
            if (at == Point.BEFORE_REGISTER && Thread.currentThread() == writing[0]) {
                registered.incrementAndGet();
                RawPeer.await(
                        () -> {
                            p.client.poll();
                            return p.client.acknowledged()
                                    == p.client.core().out.written();
                        },
                        () -> "not acknowledged");
            }
        };
        Future<Integer> writer = background(() -> {
            writing[0] = Thread.currentThread();
            p.client.write(bytes(4 << 20), 0, 4 << 20, PATIENCE);
            return 4 << 20;
        });
        read(p.server, 4 << 20);
        get(writer);
        assertTrue(p.client.registeredBytes() > DEFAULT.leastBytes());
        assertTrue(registered.get() <= 10, () -> registered + " times");
    }

    private static final class Untold extends RuntimeException {
        private static final long serialVersionUID = 1L;

        @Override
        public String getMessage() {
            throw new IllegalStateException("a test's");
        }
    }

    /** All that it was granted may be filled and read, so nothing else would come. */
    @Test
    void shouldGrantThePeerWhatItHasFilledAfterAnError() throws Exception {
        StreamPair p = pair();
        Thread[] reading = new Thread[1];
        AtomicInteger failed = new AtomicInteger();
        hooked.hook = (at, cookie) -> {
            if (at == Point.BEFORE_REGISTER && Thread.currentThread() == reading[0]) {
                failed.incrementAndGet();
                throw new Untold();
            }
        };
        Object before = TroubleOnTheWayTest.level(Slabs.class, LocationAwareLogger.DEBUG_INT);
        try {
            Future<Integer> writer = writes(p.client, 100_000);
            assertArrayEquals(bytes(100_000), get(background(() -> {
                reading[0] = Thread.currentThread();
                return read(p.server, 100_000);
            })));
            assertEquals(100_000, get(writer));
        } finally {
            TroubleOnTheWayTest.level(Slabs.class, before);
        }
        assertTrue(failed.get() > 0);
    }

    private static int available(RdmaStream stream) {
        try {
            return stream.available();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    // ---- a device that refuses ----

    /** From now on, as where a cgroup for RDMA allows no more objects. Returns the count of refusals. */
    private AtomicInteger refuseRegistrations() {
        AtomicInteger refused = new AtomicInteger();
        hooked.hook = (at, cookie) -> {
            if (at == Point.BEFORE_REGISTER) {
                refused.incrementAndGet();
                GrowthTest.<RuntimeException>refuse();
            }
        };
        return refused;
    }

    @SuppressWarnings("unchecked")
    private static <E extends Exception> void refuse() throws E {
        throw (E) new ErrnoException("ibv_reg_mr", "for this test", Errno.EAGAIN);
    }

    /** Each is a call of the kernel, and one of them may take the device long. */
    @Test
    void shouldAskLessOftenTheLongerTheDeviceRefuses() throws Exception {
        Slabs slabs = pair().client.core().endpoint.slabs();
        AtomicInteger refused = refuseRegistrations();
        long start = System.nanoTime();
        long millis;
        do {
            assertNull(slabs.register(4096, 4096, false));
            millis = NANOSECONDS.toMillis(System.nanoTime() - start);
        } while (millis < 400);
        // After the first refusal it pauses for 20 ms, then for 40 ms, and so on.
        long least = 20L * ((1L << refused.get() - 1) - 1);
        assertTrue(least <= millis, () -> refused + " times");
    }

    @Test
    void shouldAskAgainWhenTheDeviceHasGivenSome() throws Exception {
        Slabs slabs = pair().client.core().endpoint.slabs();
        AtomicInteger refused = refuseRegistrations();
        RawPeer.await(() -> slabs.register(4096, 4096, false) == null && refused.get() == 4, () -> "not asked");
        hooked.hook = (at, cookie) -> {};
        RawPeer.await(() -> slabs.register(4096, 4096, false) != null, () -> "not asked again");
        assertNotNull(slabs.register(4096, 4096, false));
    }

    @Test
    void shouldWarnThatTheDeviceAllowsNoMore() throws Exception {
        StreamPair p = pair();
        refuseRegistrations();
        List<String> warnings = warningsIn(() -> {
            Future<Integer> writer = writes(p.client, 100_000);
            assertArrayEquals(bytes(100_000), read(p.server, 100_000));
            writer.get();
            awaitReapers(p.client.core().endpoint.device());
        });
        assertEquals(1, warnings.size(), warnings::toString);
        String warning = "connections over lo0 stay smaller than they would be, for lack of room (ibv_reg_mr (for this"
                + " test): Resource temporarily unavailable); the device, or rdma.max of this process's cgroup"
                + " (hca_object), allows no more. Further ones are logged at debug level only.";
        assertTrue(warnings.get(0).endsWith(warning), warnings::toString);
    }
}
