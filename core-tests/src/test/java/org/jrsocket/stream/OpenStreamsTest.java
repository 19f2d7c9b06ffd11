/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import org.jrsocket.stream.HookedVerbs.Point;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackProvider;
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
}
