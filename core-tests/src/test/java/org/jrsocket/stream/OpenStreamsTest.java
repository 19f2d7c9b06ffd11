/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.jrsocket.endpoint.Bundle;
import org.jrsocket.stream.HookedVerbs.Point;
import org.jrsocket.threads.ServiceLoop;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.ArgumentCaptor;

/** Who looks after all streams now and then. */
class OpenStreamsTest extends RawPeerTests {

    private final ServiceLoop service = mock(ServiceLoop.class);
    private HookedVerbs hooked;

    @Override
    VerbsProvider wrap(LoopbackProvider provider) {
        hooked = new HookedVerbs(provider);
        return hooked;
    }

    @BeforeEach
    void repeat() {
        when(service.scheduleAgain(any(), anyLong())).thenCallRealMethod();
    }

    private Runnable nextSweep(int number) {
        ArgumentCaptor<Runnable> sweep = ArgumentCaptor.forClass(Runnable.class);
        verify(service, times(number)).schedule(sweep.capture(), anyLong());
        return sweep.getValue();
    }

    /** For lack of memory, say. */
    @Test
    void shouldLookAfterStreamsThoughItCouldNotBeArrangedForTheFirst() throws Exception {
        when(service.schedule(any(), anyLong()))
                .thenThrow(new OutOfMemoryError("as the test wants"))
                .thenReturn(() -> {});
        OpenStreams streams = new OpenStreams(service);
        StreamPair p = later(StreamPair.connect(transport, HERE, CONFIG));
        assertThrows(OutOfMemoryError.class, () -> streams.add(p.client));
        streams.add(p.server);
        nextSweep(2).run();
        nextSweep(3);
    }

    @Test
    void shouldLookAfterTheOthersWhenOneMakesTrouble() throws Exception {
        verbs.faults().holdAcks(true); // so that each of them awaits a completion, for which a sweep looks
        OpenStreams streams = new OpenStreams(service);
        for (int i = 0; i < 2; i++) {
            StreamPair p = later(StreamPair.connect(transport, HERE, CONFIG));
            streams.add(p.client);
            streams.add(p.server);
        }
        Thread sweeper = Thread.currentThread();
        for (int round = 1; round <= 3; round++) {
            int[] looks = new int[1];
            hooked.hook = (point, cookie) -> {
                if (Thread.currentThread() == sweeper && point == Point.BEFORE_POLL) {
                    looks[0]++;
                    throw new IllegalStateException("as the test wants");
                }
            };
            nextSweep(round).run();
            assertEquals(4, looks[0]);
        }
        nextSweep(4);
        hooked.hook = (point, cookie) -> {};
        verbs.faults().holdAcks(false);
    }

    /** Else 50,000 streams would hold up everything else that the service thread does. */
    @Test
    void shouldLetOthersHaveTheirTurnWhileItLooksAfterMany() throws Exception {
        verbs.faults().holdAcks(true); // as above
        OpenStreams streams = new OpenStreams(service);
        int all = OpenStreams.AT_ONCE + 2;
        for (int i = 0; i < all / 2; i++) {
            StreamPair p = later(StreamPair.connect(transport, HERE, CONFIG));
            streams.add(p.client);
            streams.add(p.server);
        }
        Thread sweeper = Thread.currentThread();
        int[] looks = new int[1];
        hooked.hook = (point, cookie) -> {
            if (Thread.currentThread() == sweeper && point == Point.BEFORE_POLL && cookie == Bundle.SEND_COOKIE) {
                looks[0]++;
            }
        };
        nextSweep(1).run();
        assertEquals(OpenStreams.AT_ONCE, looks[0]);
        verify(service).schedule(any(), eq(OpenStreams.REST_NANOS));
        nextSweep(2).run();
        assertEquals(all, looks[0]);
        nextSweep(3).run(); // the next round
        verify(service, times(2)).schedule(any(), eq(OpenStreams.REST_NANOS));
        hooked.hook = (point, cookie) -> {};
        verbs.faults().holdAcks(false);
    }

    /** Ending a registration may take a device long, and other streams wait for the service thread. */
    @Test
    void shouldHaveReapersGiveMemoryBack() throws Exception {
        StreamPair p = later(StreamPair.connect(transport, HERE, StreamConfig.DEFAULT));
        byte[] sent = new byte[4 << 20];
        Future<?> writer = background(() -> {
            p.client.write(sent, 0, sent.length, PATIENCE);
            return null;
        });
        assertArrayEquals(sent, read(p.server, sent.length));
        get(writer);
        long least = StreamConfig.DEFAULT.leastBytes();
        assertTrue(p.server.registeredBytes() > least);
        List<String> threads = new CopyOnWriteArrayList<>();
        hooked.hook = (point, cookie) -> {
            if (point == Point.BEFORE_DEREGISTER) {
                threads.add(Thread.currentThread().getName());
            }
        };
        RawPeer.await(
                () -> {
                    p.client.core().sweep.look();
                    p.server.core().sweep.look();
                    return p.client.registeredBytes() + p.server.registeredBytes() <= 2 * least;
                },
                () -> p.client.registeredBytes() + " to send and " + p.server.registeredBytes() + " to receive");
        hooked.hook = (point, cookie) -> {};
        assertEquals(Set.of("jrsocket-reaper lo0"), Set.copyOf(threads));
    }

    /** A reaper ends the registrations of lent memory without the stream's lock. */
    @Test
    void shouldNotLookAtTheMemoryOfAStreamThatIsBeingFreed() throws Exception {
        StreamPair p = later(StreamPair.connect(transport, HERE, CONFIG));
        ByteBuffer memory = ByteBuffer.allocateDirect(16);
        for (int i = 0; i < 20_000; i++) { // so many that a look and the end of their registrations overlap
            p.client.register(memory);
        }
        CountDownLatch freeing = new CountDownLatch(1);
        hooked.hook = (point, cookie) -> {
            if (point == Point.BEFORE_DEREGISTER) {
                freeing.countDown();
            }
        };
        p.client.abort();
        assertTrue(freeing.await(PATIENCE, NANOSECONDS));
        do {
            p.client.core().sweep.look();
        } while (!p.client.isFreed());
    }
}
