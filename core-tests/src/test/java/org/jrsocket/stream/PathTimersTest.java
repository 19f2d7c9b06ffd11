/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jrsocket.endpoint.PathTimers;
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
        return stream.core().endpoint.qp().ackTimeout();
    }

    /** Not the kernel's 2 s after a lost last packet. */
    @Test
    void shouldSetTheAckTimeoutOfBothQueuePairs() throws Exception {
        for (RdmaStream each : connect(CONFIG, CONFIG)) {
            assertEquals(16, ackTimeout(each));
        }
    }

    /** Not the kernel's 655 ms after a missing receive; and no call for it before a receive can be missing. */
    @Test
    void shouldSetTheRnrTimersOnceReceivesAreUsedUp() throws Exception {
        List<RdmaStream> ends = connect(CONFIG, CONFIG);
        exchange(ends, 1);
        assertEquals(0, rnrTimer(ends.get(0)));
        assertEquals(0, rnrTimer(ends.get(1)));
        exchange(ends, CONFIG.receiveQueue());
        for (RdmaStream each : ends) {
            RawPeer.await(() -> rnrTimer(each) == PathTimers.RNR_TIMER, () -> "still " + rnrTimer(each));
        }
        assertTrue(PathTimers.RNR_TIMER > 0, "0 is the longest");
    }

    static int rnrTimer(RdmaStream stream) {
        try {
            return stream.core().endpoint.qp().minRnrTimer();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Messages of one byte, there and back. */
    static void exchange(List<RdmaStream> ends, int count) throws IOException {
        byte[] one = new byte[1];
        for (int i = 0; i < count; i++) {
            for (int end = 0; end < 2; end++) {
                ends.get(end).write(one, 0, 1, StreamPair.PATIENCE);
                assertEquals(1, ends.get(1 - end).read(one, 0, 1, StreamPair.PATIENCE));
            }
        }
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
