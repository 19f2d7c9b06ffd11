/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How long the queue pairs of a connection wait for an acknowledgement, and for the peer to post a receive. */
class PathTimersTest extends RawPeerTests {

    /** Both ends of a connection: the one that connects first. */
    private List<RdmaStream> connect(StreamConfig connecting, StreamConfig accepting) throws IOException {
        RdmaListener listener = listen(accepting);
        RdmaStream client =
                transport.connect(null, listener.localAddress(), connecting).await(PATIENCE);
        return List.of(client, StreamPair.accept(listener));
    }

    private static int ackTimeout(RdmaStream stream) throws IOException {
        return stream.core().handles.qp.ackTimeout();
    }

    /** Neither the kernel's 2 s after a lost last packet nor its 655 ms after a missing receive. */
    @Test
    void shouldSetTheTimersOfBothQueuePairs() throws Exception {
        for (RdmaStream each : connect(CONFIG, CONFIG)) {
            assertEquals(16, ackTimeout(each));
            assertEquals(PathTimers.RNR_TIMER, each.core().handles.qp.minRnrTimer());
        }
        assertTrue(PathTimers.RNR_TIMER > 0, "0 is the longest");
    }

    @Test
    void shouldSetTheAckTimeoutThatEitherEndWants() throws Exception {
        List<RdmaStream> ends = connect(
                CONFIG.withAckTimeoutNanos(TimeUnit.SECONDS.toNanos(1)),
                CONFIG.withAckTimeoutNanos(TimeUnit.MILLISECONDS.toNanos(34)));
        assertEquals(18, ackTimeout(ends.get(0)));
        assertEquals(14, ackTimeout(ends.get(1)));
    }

    @ParameterizedTest
    @CsvSource({"1,0", "4096,0", "4097,1", "1000000,8", "268435456,16", "268435457,17", "9000000000000,31"})
    void shouldRoundTheAckTimeoutUp(long nanos, int code) {
        assertEquals(code, PathTimers.ackTimeout(nanos));
    }
}
