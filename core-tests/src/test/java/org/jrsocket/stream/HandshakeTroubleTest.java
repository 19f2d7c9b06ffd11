/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jrsocket.HopelessError;
import org.jrsocket.os.Errno;
import org.jrsocket.stream.HookedVerbs.Point;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.threads.PatientLock;
import org.jrsocket.threads.ServiceThreads;
import org.jrsocket.threads.Threads;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.CmMessage;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.verbs.loopback.RawEndpoint;
import org.jrsocket.verbs.loopback.Reachability;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Getting connected when something is missing, hangs, is lost, or is cancelled: sections 1 and 10 of the protocol page.
 * Whatever happens, every object is given back.
 */
class HandshakeTroubleTest extends RawPeerTests {

    private HookedVerbs hooked;

    @Override
    VerbsProvider wrap(LoopbackProvider provider) {
        hooked = new HookedVerbs(provider);
        return hooked;
    }

    // ---- what is missing here ----

    /** A device whose queues are too small for a single credit. */
    @Test
    void shouldFailAConnectOnADeviceWithoutRoomForCredits() throws Exception {
        InetAddress there = InetAddress.getByName("127.0.0.9");
        verbs.addDevice(new LoopbackConfig().name("tiny").maxQpWr(8), there);
        RdmaListener listener = listen(CONFIG);
        RdmaConnectException e = assertThrows(RdmaConnectException.class, () -> transport
                .connect(new InetSocketAddress(there, 0), listener.localAddress(), CONFIG)
                .await(PATIENCE));
        assertEquals(Reason.RESOURCES, e.reason());
    }

    /** Both ends do with what there is: credits count receives, not what was asked for. */
    @Test
    void shouldConnectOnADeviceWithSmallCompletionQueues() throws Exception {
        InetAddress there = InetAddress.getByName("127.0.0.9");
        verbs.addDevice(new LoopbackConfig().name("few").maxCqe(40), there);
        RdmaListener listener = listen(CONFIG);
        RdmaStream client = transport
                .connect(new InetSocketAddress(there, 0), listener.localAddress(), CONFIG)
                .await(PATIENCE);
        RdmaStream server = StreamPair.accept(listener);
        for (int i = 0; i < 100; i++) {
            server.write(bytes(100), 0, 100, PATIENCE);
            assertArrayEquals(bytes(100), read(client, 100));
            client.write(bytes(100), 0, 100, PATIENCE);
            assertArrayEquals(bytes(100), read(server, 100));
        }
    }

    /** Of an address EINVAL says that no device serves it. */
    @Test
    void shouldTakeARefusedCompletionQueueForLackOfSomethingHere() throws Exception {
        RdmaListener listener = listen(CONFIG);
        hooked.cqErrno = Errno.EINVAL;
        PendingConnect pending = transport.connect(null, listener.localAddress(), CONFIG);
        RdmaConnectException e = assertThrows(RdmaConnectException.class, () -> pending.await(PATIENCE));
        assertEquals(Reason.RESOURCES, e.reason());
        assertTrue(e.getMessage().contains("lower queue.send or queue.receive"), e::getMessage);
    }

    /** By then the queue pair is made: it goes with the rest, and what it needed serves the next connection. */
    @Test
    void shouldFreeTheQueuePairThatWasMadeWhileNoRouteWasFound() throws Exception {
        InetAddress there = InetAddress.getByName("127.0.0.9");
        verbs.place(there, Reachability.NO_ROUTE);
        AtomicReference<PendingConnect> connecting = new AtomicReference<>();
        CountDownLatch making = new CountDownLatch(1);
        AtomicInteger events = new AtomicInteger();
        hooked.beforeEvent = () -> {
            if (events.incrementAndGet() == 2) { // the first was the address
                RawPeer.await(() -> making.getCount() == 0, () -> "nothing is made");
            }
        };
        hooked.hook = (at, cookie) -> {
            if (at == Point.BEFORE_QP) {
                making.countDown();
                RawPeer.await(() -> connecting.get() != null && connecting.get().isDone(), () -> "there is a route");
            }
        };
        PendingConnect pending = transport.connect(null, new InetSocketAddress(there, 7), CONFIG);
        connecting.set(pending);
        RdmaConnectException e = assertThrows(RdmaConnectException.class, () -> pending.await(PATIENCE));
        assertEquals(Reason.UNRESOLVED, e.reason());
        RawPeer.await(() -> verbs.liveObjects().ids() == 0, () -> "not freed: " + verbs.liveObjects());
        assertEquals(0, verbs.liveObjects().qps());
        assertTrue(transport.registeredMemory() > 0, "nothing is kept for the next one, so no queue pair was made");
    }

    /** Its caller waits for that, whatever else goes wrong. */
    @Test
    void shouldEndAnAttemptInTimeWhereMemoryIsLackingToLookAtWhatHasArrived() throws Exception {
        InetAddress silent = InetAddress.getByName("127.0.0.3");
        verbs.place(silent, Reachability.SILENT);
        hooked.beforeEvent = () -> {
            throw new OutOfMemoryError("says a test");
        };
        PendingConnect pending = transport.connect(null, new InetSocketAddress(silent, 7), CONFIG);
        Future<RdmaConnectException> failed =
                background(() -> assertThrows(RdmaConnectException.class, () -> pending.await(1_000_000)));
        assertEquals(Reason.TIMEOUT, get(failed).reason());
        hooked.beforeEvent = () -> {};
    }

    /** All that the transport has: {@link HookedVerbs} give them one number, which no raw peer's has. */
    private void failCompletionQueues() throws Exception {
        verbs.faults().asyncEvent(verbs.device(), Device.event(Device.EVENT_CQ_ERR, 0));
        RawPeer.await(() -> !verbs.device().hasEvents(), () -> "nobody takes the event");
        passTheServiceThread();
    }

    private void assertNothingIsKept() {
        RawPeer.await(
                () -> transport.registeredMemory() == 0,
                () -> "kept for the next one: " + transport.registeredMemory() + " bytes");
    }

    /** No completion would ever come. */
    @Test
    void shouldNotConnectOnACompletionQueueThatHasFailedMeanwhile() throws Exception {
        RawPeer.RawListener listener = rawListen();
        PendingConnect pending = transport.connect(null, listener.address(), CONFIG);
        RawPeer peer = listener.take(RawPeer.Spec.DEFAULT);
        peers.add(peer);
        failCompletionQueues();
        peer.answer(peer.connData());
        RdmaConnectException e = assertThrows(RdmaConnectException.class, () -> pending.await(PATIENCE));
        assertEquals(Reason.RESOURCES, e.reason());
        assertTrue(e.getMessage().contains("a completion queue of lo0 has failed"), e::getMessage);
        assertNothingIsKept();
    }

    @Test
    void shouldNotConnectOnADeviceThatHasFailedMeanwhile() throws Exception {
        RawPeer.RawListener listener = rawListen();
        PendingConnect pending = transport.connect(null, listener.address(), CONFIG);
        RawPeer peer = listener.take(RawPeer.Spec.DEFAULT);
        peers.add(peer);
        failDevice();
        peer.answer(peer.connData());
        RdmaConnectException e = assertThrows(RdmaConnectException.class, () -> pending.await(PATIENCE));
        assertEquals(Reason.RESOURCES, e.reason());
        assertTrue(e.getMessage().contains("lo0 was removed or has failed"), e::getMessage);
        assertNothingIsKept();
    }

    private void failDevice() throws Exception {
        verbs.faults().asyncEvent(verbs.device(), Device.event(Device.EVENT_DEVICE_FATAL, 0));
        RawPeer.await(() -> verbs.device().isLost(), () -> "nobody takes the event");
        passTheServiceThread();
    }

    private interface Trouble {
        void begin() throws Exception;
    }

    /** The service thread has looked for the streams that this concerns, while a maker was making one. */
    @Test
    void shouldResetAConnectionWhoseCompletionQueueFailsWhileItIsMade() throws Exception {
        resetsAConnection(this::failCompletionQueues, "a completion queue of this host's device has failed (lo0, ");
    }

    @Test
    void shouldResetAConnectionWhoseDeviceFailsWhileItIsMade() throws Exception {
        resetsAConnection(this::failDevice, "the RDMA device was removed or has failed (lo0, ");
    }

    private void resetsAConnection(Trouble trouble, String why) throws Exception {
        RawPeer.RawListener listener = rawListen();
        PendingConnect pending = transport.connect(null, listener.address(), CONFIG);
        RawPeer peer = listener.take(RawPeer.Spec.DEFAULT);
        peers.add(peer);
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        AtomicBoolean begun = new AtomicBoolean();
        verbs.faults().beforeSend(device -> {
            if (begun.compareAndSet(false, true)) { // the first of the stream's grants
                try {
                    trouble.begin();
                    done.complete(true);
                } catch (Exception | AssertionError e) {
                    done.completeExceptionally(e);
                }
            }
        });
        peer.answer(peer.connData());
        RdmaStream stream = pending.await(PATIENCE);
        assertTrue(get(done));
        SocketException e = assertThrows(SocketException.class, () -> stream.read(new byte[1], 0, 1, PATIENCE));
        assertTrue(StreamFailure.of(e).getMessage().startsWith(why), e::toString);
        stream.close();
        assertNothingIsKept();
    }

    @Test
    void shouldNotAcceptOnACompletionQueueThatHasFailedMeanwhile() throws Exception {
        CmListener listener = (CmListener) listen(CONFIG);
        RawPeer peer = active(listener.localAddress(), RawPeer.Spec.DEFAULT);
        peer.request(peer.connData());
        RawPeer.await(() -> verbs.liveObjects().qps() == 2, () -> "nothing is made for the client");
        failCompletionQueues();
        peer.established();
        RawPeer.await(() -> listener.halfOpen() == 0, () -> "the handshake goes on");
        assertNull(listener.poll());
        assertNothingIsKept();
    }

    /** For lack of memory it would go without telling anybody. */
    @Test
    void shouldAllocateNothingBeforeAMakerCanFailAnAttempt() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        InetSocketAddress anywhere = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7);
        ConnectRequest unwanted = new ConnectRequest(transport.cmServices(), null, anywhere, CONFIG, false);
        PatientLock lock = new PatientLock();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 10; i++) { // the first times classes are loaded
            long before = threads.getCurrentThreadAllocatedBytes();
            unwanted.makeEndpoint(lock);
            unwanted.prepareQueues(lock);
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertEquals(0, least);
    }

    /** Lack of memory fails one connection, on either side; the connections after it are made as ever. */
    @Test
    void shouldSurviveLackOfMemory() throws Exception {
        RdmaListener listener = listen(CONFIG);
        // three regions an endpoint: the connecting one's, then the accepting one's
        for (int failing = 1; failing <= 6; failing++) {
            AtomicInteger left = new AtomicInteger(failing);
            RawPeer.await(
                    () -> verbs.liveObjects().ids() <= 1,
                    () -> "the last attempt is not freed: " + verbs.liveObjects());
            transport.freeIdle();
            hooked.hook = (at, cookie) -> {
                if (at == Point.BEFORE_REGISTER && left.decrementAndGet() == 0) {
                    throw new OutOfMemoryError("for this test");
                }
            };
            PendingConnect pending = transport.connect(null, listener.localAddress(), CONFIG);
            RdmaConnectException e = assertThrows(RdmaConnectException.class, () -> pending.await(PATIENCE));
            assertEquals(failing <= 3 ? Reason.RESOURCES : Reason.BUSY, e.reason(), "registration " + failing);
        }
        hooked.hook = (at, cookie) -> {};
        RdmaStream client =
                transport.connect(null, listener.localAddress(), CONFIG).await(PATIENCE);
        RdmaStream server = StreamPair.accept(listener);
        client.write(bytes(10), 0, 10, PATIENCE);
        assertArrayEquals(bytes(10), read(server, 10));
    }

    // ---- cancelling ----

    /** Where a connection attempt can hang. */
    enum Stage {
        ADDRESS,
        REQUEST,
        ANSWER,
        CONFIRMATION
    }

    /** @param millis until the message that is late arrives */
    private InetSocketAddress hang(Stage stage, RdmaListener listener, long millis) throws IOException {
        switch (stage) {
            case ADDRESS -> {
                InetAddress nobody = InetAddress.getByName("127.0.0.77");
                verbs.place(nobody, Reachability.UNRESOLVED);
                return new InetSocketAddress(nobody, 1);
            }
            case REQUEST -> verbs.faults().delay(CmMessage.REQ, millis);
            case ANSWER -> verbs.faults().delay(CmMessage.REP, millis);
            default -> verbs.faults().delay(CmMessage.RTU, millis);
        }
        return listener.localAddress();
    }

    @ParameterizedTest
    @EnumSource(Stage.class)
    void shouldCancelAConnectThatHangsAtThe(Stage stage) throws Exception {
        RdmaListener listener = listen(CONFIG);
        long millis = 50; // what is late comes while the next ones connect
        InetSocketAddress to = hang(stage, listener, millis);
        List<PendingConnect> all = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            long begun = System.nanoTime();
            PendingConnect pending = transport.connect(null, to, CONFIG);
            all.add(pending);
            Future<IOException> waiter = background(() -> assertThrows(IOException.class, () -> {
                pending.await(0);
                throw new IOException("connected: only the confirmation may be late");
            }));
            if (i % 2 == 0) {
                Thread.sleep(i % 4);
            }
            pending.cancel();
            pending.cancel();
            boolean hung = System.nanoTime() - begun < TimeUnit.MILLISECONDS.toNanos(millis);
            IOException e = get(waiter);
            if (stage == Stage.ADDRESS || hung && stage != Stage.CONFIRMATION) {
                assertEquals(Reason.CANCELLED, ((RdmaConnectException) e).reason());
            }
            assertTrue(pending.isDone());
        }
        // one that was connected before it was cancelled, and was taken: ours to close
        for (PendingConnect pending : all) {
            try {
                pending.await(1).close();
            } catch (RdmaConnectException expected) {
                // cancelled
            }
        }
    }

    /** The same with a time limit instead. */
    @ParameterizedTest
    @EnumSource(value = Stage.class, names = "CONFIRMATION", mode = EnumSource.Mode.EXCLUDE)
    void shouldGiveUpAConnectThatHangsAtThe(Stage stage) throws Exception {
        RdmaListener listener = listen(CONFIG);
        // longer than the test may take: on a busy machine the limit is noticed late
        InetSocketAddress to = hang(stage, listener, TimeUnit.HOURS.toMillis(1));
        PendingConnect pending = transport.connect(null, to, CONFIG);
        RdmaConnectException e = assertThrows(RdmaConnectException.class, () -> pending.await(5_000_000));
        assertEquals(Reason.TIMEOUT, e.reason());
    }

    /** Messages of the manager that are lost for good end an attempt, too, in time that the manager sets. */
    @ParameterizedTest
    @EnumSource(
            value = CmMessage.class,
            names = {"REQ", "REP"})
    void shouldFailWhenAMessageOfTheManagerIsLost(CmMessage lost) throws Exception {
        RdmaListener listener = listen(CONFIG);
        verbs.faults().drop(lost, 1);
        RdmaConnectException e = assertThrows(
                RdmaConnectException.class,
                () -> transport.connect(null, listener.localAddress(), CONFIG).await(PATIENCE));
        assertEquals(Reason.UNREACHABLE, e.reason());
        RdmaStream next =
                transport.connect(null, listener.localAddress(), CONFIG).await(PATIENCE);
        next.write(bytes(3), 0, 3, PATIENCE);
        assertArrayEquals(bytes(3), read(StreamPair.accept(listener), 3));
    }

    /** At any moment, with nothing delayed. */
    @Test
    void shouldCancelAtAnyMoment() throws Exception {
        RdmaListener listener = listen(CONFIG);
        Random random = new Random(4711);
        for (int i = 0; i < 400; i++) {
            PendingConnect pending = transport.connect(null, listener.localAddress(), CONFIG);
            long until = System.nanoTime() + random.nextInt(400_000);
            while (System.nanoTime() < until) {
                Thread.onSpinWait();
            }
            pending.cancel();
            for (RdmaStream s = listener.poll(); s != null; s = listener.poll()) {
                s.close();
            }
        }
    }

    /** Closing a listener refuses, resets or gives up whatever is under way, at any moment. */
    @Test
    void shouldCloseAListenerDuringHandshakes() throws Exception {
        Random random = new Random(815);
        for (int i = 0; i < 60; i++) {
            verbs.faults().delay(CmMessage.REP, i % 3 == 0 ? 2 : 0);
            verbs.faults().delay(CmMessage.RTU, i % 3 == 1 ? 2 : 0);
            RdmaListener listener = transport.listen(new InetSocketAddress(HERE, 0), 1 + i % 5, CONFIG);
            List<PendingConnect> all = new ArrayList<>();
            for (int k = 0; k < 8; k++) {
                all.add(transport.connect(null, listener.localAddress(), CONFIG));
            }
            Thread.sleep(0, random.nextInt(999_999));
            listener.close();
            listener.close();
            for (PendingConnect pending : all) {
                try {
                    RdmaStream stream = pending.await(PATIENCE);
                    assertThrows(IOException.class, () -> {
                        if (stream.read(new byte[1], 0, 1, PATIENCE) < 0) {
                            throw new IOException("ended");
                        }
                    });
                    stream.close();
                } catch (RdmaConnectException e) {
                    assertTrue(e.reason() == Reason.REFUSED || e.reason() == Reason.UNREACHABLE, e.toString());
                }
            }
        }
    }

    /**
     * The passive side may give up after its answer made this side a connected one: a reject then ends the connection
     * like a disconnect.
     */
    @Test
    void shouldResetAConnectionThatIsRejectedAfterTheAnswer() throws Exception {
        verbs.faults().delay(CmMessage.RTU, 3_600_000);
        RawPeer.RawListener listener = rawListen();
        PendingConnect pending = transport.connect(null, listener.address(), CONFIG);
        RawPeer peer = listener.take(RawPeer.Spec.DEFAULT);
        peer.answer(peer.connData());
        RdmaStream stream = pending.await(PATIENCE);
        Future<SocketException> reader =
                background(() -> assertThrows(SocketException.class, () -> stream.read(new byte[1], 0, 1, 0)));
        Thread.sleep(10);
        peer.close();
        assertEquals("Connection reset", get(reader).getMessage());
    }

    /** A timer would hold the stream, however short its life, for as long as the attempt might have taken. */
    @Test
    void shouldLeaveNoTimerOfAnAttemptThatIsOver() throws Exception {
        RdmaListener listener = listen(CONFIG);
        int before = timersLaterThan(TimeUnit.HOURS.toNanos(1));
        PendingConnect connected = transport.connect(null, listener.localAddress(), CONFIG);
        connected.expire(() -> TimeUnit.HOURS.toNanos(2));
        connected.await(PATIENCE);
        PendingConnect cancelled = transport.connect(null, listener.localAddress(), CONFIG);
        cancelled.expire(() -> TimeUnit.HOURS.toNanos(2));
        cancelled.cancel();
        cancelled.expire(() -> TimeUnit.HOURS.toNanos(2));
        assertEquals(before, timersLaterThan(TimeUnit.HOURS.toNanos(1)));
    }

    private int timersLaterThan(long nanos) throws Exception {
        CompletableFuture<Integer> count = new CompletableFuture<>();
        transport
                .service()
                .execute(() -> count.complete(ServiceThreads.timersLaterThan(transport.services().service, nanos)));
        return count.get(30, TimeUnit.SECONDS);
    }

    /** [25] Cancelled before it began to wait, or after it was taken: nothing happens to others. */
    @Test
    void shouldRunItsActionOnceWhateverTheOutcome() throws Exception {
        RdmaListener listener = listen(CONFIG);
        PendingConnect pending = transport.connect(null, listener.localAddress(), CONFIG);
        AtomicInteger runs = new AtomicInteger();
        pending.onDone(runs::incrementAndGet);
        RdmaStream stream = pending.await(PATIENCE);
        RawPeer.await(() -> runs.get() == 1, () -> "ran " + runs);
        pending.cancel();
        AtomicBoolean late = new AtomicBoolean();
        pending.onDone(() -> late.set(true));
        assertTrue(late.get());
        stream.write(bytes(4), 0, 4, PATIENCE);
        assertArrayEquals(bytes(4), read(StreamPair.accept(listener), 4));
        assertEquals(1, runs.get());
    }

    /** One event that cannot be read, for lack of memory or for whatever reason, is not the end of all others. */
    @Test
    void shouldGoOnAfterAnEventThatCouldNotBeRead() throws Exception {
        RdmaListener listener = listen(CONFIG);
        for (Throwable trouble : List.of(new IOException("no such event"), new OutOfMemoryError("says a test"))) {
            AtomicBoolean once = new AtomicBoolean();
            hooked.beforeEvent = () -> {
                if (!once.getAndSet(true)) {
                    if (trouble instanceof IOException e) {
                        throw e;
                    }
                    throw (Error) trouble;
                }
            };
            try (RdmaStream client = transport
                            .connect(null, listener.localAddress(), CONFIG)
                            .await(PATIENCE);
                    RdmaStream server = StreamPair.accept(listener)) {
                assertTrue(once.get());
                client.write(bytes(4), 0, 4, PATIENCE);
                assertArrayEquals(bytes(4), read(server, 4));
            }
        }
    }

    /** A raw client that goes away in the middle of the handshake. */
    @Test
    void shouldForgetAClientThatGoesAwayInTheHandshake() throws Exception {
        RdmaListener listener = listen(CONFIG);
        for (int i = 0; i < 30; i++) {
            try (RawPeer peer = RawPeer.active(verbs, listener.localAddress(), RawPeer.Spec.DEFAULT)) {
                peer.request(peer.connData());
                if (i % 2 == 0) {
                    RawEndpoint.await(peer.raw.cm, peer.raw.events, EventType.RDMA_CM_EVENT_ESTABLISHED);
                }
            }
            RdmaStream stream = listener.poll();
            if (stream != null) {
                stream.close();
            }
        }
    }

    /** Whoever waits has to be told all the same. */
    @Test
    void shouldFailAnAttemptWhereMemoryIsLackingForItsException() throws Exception {
        RdmaListener listener = listen(CONFIG);
        hooked.hook = (at, cookie) -> {
            if (at == Point.BEFORE_QP) {
                throw new HopelessError(2);
            }
        };
        PendingConnect pending = transport.connect(null, listener.localAddress(), CONFIG);
        Future<RdmaConnectException> failed =
                background(() -> assertThrows(RdmaConnectException.class, () -> pending.await(0)));
        assertEquals(Reason.RESOURCES, get(failed).reason());
        hooked.hook = (at, cookie) -> {};
    }

    @Test
    void shouldTellEveryoneOfAnOutcomeThoughOneOfThemFails() throws Exception {
        RdmaListener listener = listen(CONFIG);
        CountDownLatch making = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        hooked.hook = (at, cookie) -> {
            if (at == Point.BEFORE_QP) {
                making.countDown();
                Threads.await(goOn, PATIENCE);
            }
        };
        PendingConnect pending = transport.connect(null, listener.localAddress(), CONFIG);
        making.await();
        passTheServiceThread(); // from here on no thread but this one looks at the attempt
        pending.onDone(() -> {
            throw new IllegalStateException("says a test");
        });
        AtomicBoolean told = new AtomicBoolean();
        pending.onDone(() -> told.set(true));
        assertThrows(IllegalStateException.class, pending::cancel);
        assertTrue(told.get());
        goOn.countDown();
    }

    /** Nothing else would end it. */
    @Test
    void shouldEndAnAttemptWhereMemoryIsLackingToLookAtItsTime() throws Exception {
        InetAddress silent = InetAddress.getByName("127.0.0.3");
        verbs.place(silent, Reachability.SILENT);
        PendingConnect pending = transport.connect(null, new InetSocketAddress(silent, 7), CONFIG);
        AtomicInteger looks = new AtomicInteger();
        pending.expire(() -> {
            if (looks.getAndIncrement() == 1) { // by the service thread
                throw new OutOfMemoryError("says a test");
            }
            return 0;
        });
        RawPeer.await(pending::isDone, () -> "it goes on");
        assertEquals(Reason.TIMEOUT, pending.failure().reason());
    }
}
