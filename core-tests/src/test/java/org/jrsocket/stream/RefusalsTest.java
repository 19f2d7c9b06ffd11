/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;

import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.stream.HookedVerbs.Point;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.wire.Refusal;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What listeners that make no connection tell their clients, and who does the telling. */
class RefusalsTest extends RawPeerTests {

    /** Small enough for hundreds of them. */
    private static final StreamConfig SMALL = CONFIG.withBuffers(4096, 4096).withQueues(16, 16);

    private HookedVerbs hooked;
    /** Of another process, so to say: nothing is hooked. */
    private RdmaTransport clients;

    @Override
    LoopbackConfig config() {
        return new LoopbackConfig().cmTimeoutMillis(3_600_000);
    }

    @Override
    VerbsProvider wrap(LoopbackProvider provider) {
        hooked = new HookedVerbs(provider);
        return hooked;
    }

    @BeforeEach
    void openClients() throws IOException {
        clients = later(RdmaTransport.over(verbs));
    }

    private Reason refused(RdmaListener listener) {
        PendingConnect pending = clients.connect(new InetSocketAddress(HERE, 0), listener.localAddress(), SMALL);
        return assertThrows(RdmaConnectException.class, () -> pending.await(PATIENCE))
                .reason();
    }

    private void connects(RdmaListener listener) throws IOException {
        clients.connect(null, listener.localAddress(), SMALL).await(PATIENCE).close();
        StreamPair.accept(listener).close();
    }

    /** The hook's methods declare no exception, and what makes a queue pair throws this one. */
    @SuppressWarnings("unchecked")
    private static <E extends Exception> void fail(int errno) throws E {
        throw (E) new ErrnoException("rdma_create_qp", "for this test", errno);
    }

    private void failWith(int errno) {
        hooked.hook = (at, cookie) -> {
            if (at == Point.BEFORE_QP) {
                RefusalsTest.<RuntimeException>fail(errno);
            }
        };
    }

    /** That it has no room would have its clients ask again with every connection, for ever. */
    @Test
    void shouldSayThatItIsUnableWhereItsDeviceMakesNoQueuePair() throws Exception {
        InetAddress there = InetAddress.getByName("127.0.0.9");
        verbs.addDevice(new LoopbackConfig().name("narrow").maxInline(-1), there);
        RdmaListener listener = later(transport.listen(new InetSocketAddress(there, 0), 50, SMALL));
        List<String> warnings = warningsIn(() -> {
            for (int i = 0; i < 5; i++) {
                assertEquals(Reason.UNABLE, refused(listener));
            }
        });
        assertEquals(1, warnings.size(), warnings.toString());
        String said = warnings.get(0);
        assertTrue(said.contains("narrow") && said.contains("queue.send") && said.contains("doctor"), said);
    }

    @Test
    void shouldSayNothingToAClientThatIsNoneOfOurs() throws Exception {
        RdmaListener listener = later(transport.listen(new InetSocketAddress(HERE, 0), 50, SMALL));
        failWith(Errno.EINVAL);
        RawPeer c = active(listener.localAddress(), RawPeer.Spec.DEFAULT);
        c.request(c.connData());
        CmEvent answer = c.raw.await(EventType.RDMA_CM_EVENT_REJECTED);
        assertEquals(Refusal.UNKNOWN, Refusal.parse(answer.privateData()));
    }

    @ParameterizedTest
    @ValueSource(ints = {Errno.ENOMEM, Errno.EAGAIN, Errno.ENFILE, Errno.EMFILE, Errno.ENODEV})
    void shouldSayThatItIsBusyForLackOf(int errno) throws Exception {
        RdmaListener listener = later(transport.listen(new InetSocketAddress(HERE, 0), 50, SMALL));
        failWith(errno);
        assertEquals(Reason.BUSY, refused(listener));
    }

    @ParameterizedTest
    @ValueSource(ints = {Errno.EINVAL, Errno.EPERM, Errno.ENOSPC})
    void shouldTakeForLackWhatComesAfterConnectionsThatWereMade(int errno) throws Exception {
        RdmaListener listener = later(transport.listen(new InetSocketAddress(HERE, 0), 50, SMALL));
        failWith(errno);
        assertEquals(Reason.UNABLE, refused(listener));
        hooked.hook = (at, cookie) -> {};
        connects(listener);
        failWith(errno); // the device has no queue pair left, for example
        assertEquals(Reason.BUSY, refused(listener));
    }

    /** Of one connection the errno says that its client has left. Drivers also use it for what they cannot do. */
    @Test
    void shouldWarnOfADeviceThatHasAcceptedNobody() throws Exception {
        RdmaListener listener = later(transport.listen(new InetSocketAddress(HERE, 0), 50, SMALL));
        hooked.beforeAccept = () -> {
            throw new ErrnoException("rdma_accept", "for this test", Errno.EINVAL);
        };
        assertEquals(List.of(), warningsIn(() -> {
            refused(listener);
            refused(listener);
        }));
        List<String> warnings = warningsIn(() -> {
            refused(listener);
            refused(listener);
        });
        assertEquals(1, warnings.size(), warnings.toString());
        assertTrue(warnings.get(0).contains("rdma_accept") && warnings.get(0).contains("doctor"), warnings.toString());
        hooked.beforeAccept = () -> {};
        connects(listener);
        hooked.beforeAccept = () -> {
            throw new ErrnoException("rdma_accept", "for this test", Errno.EINVAL);
        };
        assertEquals(List.of(), warningsIn(() -> {
            for (int i = 0; i < 5; i++) {
                refused(listener);
            }
        }));
    }

    /** Peers set the rate, and refusing takes calls of the kernel. */
    @Test
    void shouldRefuseItselfWhatTheReapersAreTooSlowFor() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        hooked.beforeReject = () -> {
            if (Thread.currentThread().getName().startsWith("jrsocket-reaper")) {
                await(goOn);
            }
        };
        AtomicInteger asked = new AtomicInteger();
        CmListener listener = (CmListener)
                later(transport.listen(new InetSocketAddress(HERE, 0), 50, SMALL, (source, local, device) -> {
                    asked.incrementAndGet();
                    return "nobody may";
                }));
        int more = 100;
        int count = Refusals.MOST_WAITING + more;
        AtomicInteger answered = new AtomicInteger();
        List<PendingConnect> pending = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            PendingConnect each = clients.connect(null, listener.localAddress(), SMALL);
            each.onDone(answered::incrementAndGet);
            pending.add(each);
        }
        RawPeer.await(
                () -> asked.get() == count && answered.get() == more,
                () -> asked + " requests, " + answered + " answers, and "
                        + listener.refusals().waiting() + " wait");
        assertEquals(Refusals.MOST_WAITING, listener.refusals().waiting());
        goOn.countDown();
        for (PendingConnect each : pending) {
            assertEquals(
                    Reason.DENIED,
                    assertThrows(RdmaConnectException.class, () -> each.await(PATIENCE))
                            .reason());
        }
        RawPeer.await(
                () -> listener.refusals().waiting() == 0,
                () -> listener.refusals().waiting() + " wait");
    }

    @Test
    void shouldRefuseItselfWhatItCannotHandOver() throws Exception {
        Cm cm = mock(Cm.class);
        CmId request = mock(CmId.class);
        Refusals refusals = new Refusals(
                cm,
                (device, task) -> {
                    throw new IllegalStateException("says a test");
                },
                "listener of a test");
        refusals.refuse(request, Refusals.nothing());
        verify(cm).reject(request, Refusals.nothing());
        verify(request).destroyId();
        assertEquals(0, refusals.waiting());
    }

    /** There may be no memory for what the client is to be told; it must not wait for an answer all the same. */
    @Test
    void shouldRefuseARequestForWhichItFindsNoWords() throws Exception {
        RdmaListener listener = later(transport.listen(new InetSocketAddress(HERE, 0), 50, SMALL));
        hooked.hook = (at, cookie) -> {
            if (at == Point.BEFORE_QP) {
                throw new Unspeakable();
            }
        };
        assertEquals(Reason.REFUSED, refused(listener));
        hooked.hook = (at, cookie) -> {};
        connects(listener);
    }

    /** What asks for its cause, as whoever looks for words does, fails as well. */
    private static final class Unspeakable extends Error {
        private static final long serialVersionUID = 1;

        @Override
        public synchronized Throwable getCause() {
            throw new OutOfMemoryError("says a test");
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(PATIENCE, TimeUnit.NANOSECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
