/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jrsocket.stream.StreamProgress.Wait;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is said of a stream that makes no progress. */
class StreamProgressTest extends RawPeerTests {

    @AfterEach
    void acknowledge() {
        verbs.faults().holdAcks(false);
    }

    private static Wait waitsFor(RdmaStream stream) {
        return StreamProgress.of(stream).waitsFor();
    }

    /** Writes so much at a time until no more is taken. */
    private static void fill(RdmaStream stream, int piece) throws IOException {
        while (stream.write(ByteBuffer.allocate(piece)) > 0) {
            // more
        }
    }

    @Test
    void shouldTellThatThePeerGrantsNothing() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(100));
        assertEquals(new StreamProgress(0, 0, Wait.NOTHING, 0), StreamProgress.of(l.stream()));
        l.stream().write(ByteBuffer.allocate(300));
        assertEquals(new StreamProgress(0, 200, Wait.GRANT, 0), StreamProgress.of(l.stream()));
    }

    @Test
    void shouldTellThatThePeerGivesNoCredits() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.ours().credits(4));
        for (int i = 0; i < 5; i++) {
            l.stream().write(ByteBuffer.allocate(1));
        }
        assertEquals(new StreamProgress(0, 1, Wait.CREDITS, 0), StreamProgress.of(l.stream()));
    }

    @Test
    void shouldTellThatTheSendQueueIsFull() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT, CONFIG.withQueues(16, 100));
        verbs.faults().holdAcks(true);
        for (int i = 0; i < 20; i++) {
            l.stream().write(ByteBuffer.allocate(1));
        }
        assertEquals(Wait.SEND_QUEUE, waitsFor(l.stream()));
        assertTrue(StreamProgress.of(l.stream()).unsent() > 0);
    }

    @Test
    void shouldTellThatNothingIsAcknowledged() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT, CONFIG.withBuffers(16 << 10, 8192));
        verbs.faults().holdAcks(true);
        fill(l.stream(), 4096);
        assertEquals(new StreamProgress(0, 0, Wait.ACKNOWLEDGEMENT, 0), StreamProgress.of(l.stream()));
        verbs.faults().holdAcks(false);
        l.stream().poll();
        assertEquals(Wait.NOTHING, waitsFor(l.stream()));
    }

    @Test
    void shouldTellThatMoreMemoryIsRefused() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT, CONFIG.withBuffers(64 << 10, 8192));
        transport.limitMemory(transport.registeredMemory());
        verbs.faults().holdAcks(true);
        assertEquals(0, transport.totals().memoryRefusals());
        fill(l.stream(), 4096);
        assertEquals(new StreamProgress(0, 0, Wait.MEMORY, 0), StreamProgress.of(l.stream()));
        assertTrue(transport.totals().memoryRefusals() > 0);
    }

    /** Nothing else would say why a connection is slow. */
    @Test
    void shouldWarnOnceThatConnectionsStaySmaller() throws Exception {
        Link first = link(Role.PASSIVE, RawPeer.Spec.DEFAULT, CONFIG.withBuffers(64 << 10, 8192));
        Link second = link(Role.PASSIVE, RawPeer.Spec.DEFAULT, CONFIG.withBuffers(64 << 10, 8192));
        long most = transport.registeredMemory();
        transport.limitMemory(most);
        verbs.faults().holdAcks(true);
        List<String> warnings = warningsIn(() -> {
            fill(first.stream(), 4096);
            fill(second.stream(), 4096);
            awaitReapers(first.stream().core().endpoint.device());
        });
        assertEquals(1, warnings.size(), warnings::toString);
        String kib = most / 1024 + " KiB";
        assertTrue(
                warnings.get(0)
                        .contains("connections over lo0 stay smaller than they would be, for lack of memory"
                                + " (memory.registered=" + kib + " is used up: " + kib + " registered, "),
                warnings::toString);
        assertTrue(warnings.get(0).contains("; raise memory.registered."), warnings::toString);
    }

    @Test
    void shouldTellWhatNobodyReads() throws Exception {
        StreamPair pair = later(StreamPair.connect(transport, HERE, CONFIG));
        pair.client.write(new byte[70], 0, 70, PATIENCE);
        assertTrue(pair.server.awaitReadable(PATIENCE));
        assertEquals(70, StreamProgress.of(pair.server).unread());
    }

    @Test
    void shouldTellHowLongTheDeviceHasBeenSilent() throws Exception {
        Link l = link(Role.PASSIVE);
        verbs.faults().holdAcks(true);
        l.stream().write(ByteBuffer.allocate(10_000));
        for (int i = 0; i < 3; i++) { // the first one only begins to count
            assertTrue(l.stream().core().sweep.look());
        }
        assertEquals(6, StreamProgress.of(l.stream()).silentSeconds());
        verbs.faults().holdAcks(false);
        l.stream().poll();
        assertEquals(0, StreamProgress.of(l.stream()).silentSeconds());
    }

    /** Nobody looks any more. */
    @Test
    void shouldNotTellOfSilenceOnceAStreamHasFailed() throws Exception {
        Link l = link(Role.PASSIVE);
        verbs.faults().holdAcks(true);
        l.stream().write(ByteBuffer.allocate(10_000));
        for (int i = 0; i < 3; i++) {
            assertTrue(l.stream().core().sweep.look());
        }
        assertEquals(6, StreamProgress.of(l.stream()).silentSeconds());
        l.stream().core().queueFailed("says a test");
        assertEquals(0, StreamProgress.of(l.stream()).silentSeconds());
        verbs.faults().holdAcks(false);
    }
}
