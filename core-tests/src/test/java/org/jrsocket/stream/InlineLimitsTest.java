/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jrsocket.os.Errno;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Devices that refuse a queue pair with 128 bytes of inline data, as bnxt_re and irdma do, or with any. */
@Timeout(120)
class InlineLimitsTest {

    private static final StreamConfig CONFIG = StreamConfig.DEFAULT.withSpinNanos(0);

    private static void converse(RdmaTransport transport, RdmaListener listener) throws Exception {
        try (RdmaStream client =
                        transport.connect(null, listener.localAddress(), CONFIG).await(StreamPair.PATIENCE);
                RdmaStream server = StreamPair.accept(listener)) {
            for (int size : new int[] {1, 16, 64, 65, 96, 97, 128, 129, 100_000}) { // the last one: grants go both ways
                for (int i = 0; i < 8; i++) {
                    byte[] bytes = RawPeerTests.bytes(size);
                    client.write(bytes, 0, size, StreamPair.PATIENCE);
                    byte[] there = RawPeerTests.read(server, size);
                    assertArrayEquals(bytes, there);
                    server.write(there, 0, size, StreamPair.PATIENCE);
                    assertArrayEquals(bytes, RawPeerTests.read(client, size));
                }
            }
        }
    }

    /** {@code refusals}: of the first queue pair; the one on the other side asks once, and so do all after it. */
    @ParameterizedTest
    @CsvSource({
        "1024, false, 0",
        "128, false, 0",
        "101, false, 1",
        "96, false, 1",
        "64, false, 2",
        "60, false, 3",
        "0, false, 3",
        "96, true, 1",
        "64, true, 2",
        "4, true, 3"
    })
    void shouldConnectOnADeviceThatTakes(int inline, boolean iwarp, int refusals) throws Exception {
        try (LoopbackProvider verbs =
                new LoopbackProvider(new LoopbackConfig().maxInline(inline).iwarp(iwarp))) {
            RdmaTransport transport = RdmaTransport.over(verbs);
            try (RdmaListener listener = transport.listen(new InetSocketAddress(RawPeerTests.HERE, 0), 5, CONFIG)) {
                converse(transport, listener);
                assertEquals(refusals, verbs.device().refusedQps());
                converse(transport, listener);
                assertEquals(refusals, verbs.device().refusedQps(), "asked once per device");
            }
            int granted = transport.tryQueuePair(RawPeerTests.HERE, CONFIG).inline();
            assertTrue(granted <= inline && granted <= 128, "granted " + granted);
            transport.close();
            verbs.assertClean();
        }
    }

    /** As bnxt_re does, which returns no queue pair and sets no errno. */
    @Test
    void shouldAskForLessWhereTheDeviceGivesNoReason() throws Exception {
        try (LoopbackProvider verbs =
                new LoopbackProvider(new LoopbackConfig().maxInline(96).inlineErrno(Errno.EIO))) {
            RdmaTransport transport = RdmaTransport.over(verbs);
            assertEquals(96, transport.tryQueuePair(RawPeerTests.HERE, CONFIG).inline());
            assertEquals(96, transport.tryQueuePair(RawPeerTests.HERE, CONFIG).inline());
            assertEquals(1, verbs.device().refusedQps(), "asked once per device");
            transport.close();
            verbs.assertClean();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNotUseWhatTheDeviceOnlyPretendsToTake(boolean roundsUp) throws Exception {
        LoopbackConfig config = new LoopbackConfig().mostInline(0).roundUp(roundsUp);
        try (LoopbackProvider verbs = new LoopbackProvider(config)) {
            RdmaTransport transport = RdmaTransport.over(verbs);
            assertEquals(0, transport.tryQueuePair(RawPeerTests.HERE, CONFIG).inline());
            assertEquals(0, verbs.device().refusedQps());
            transport.close();
            verbs.assertClean();
        }
    }

    /**
     * ENOMEM may be the device's answer to too much inline data, or be true: then the next connection asks for all
     * again.
     */
    @Test
    void shouldAskAgainAfterLackOfMemory() throws Exception {
        try (LoopbackProvider verbs =
                new LoopbackProvider(new LoopbackConfig().maxInline(64).inlineErrno(Errno.ENOMEM))) {
            RdmaTransport transport = RdmaTransport.over(verbs);
            assertEquals(64, transport.tryQueuePair(RawPeerTests.HERE, CONFIG).inline());
            assertEquals(64, transport.tryQueuePair(RawPeerTests.HERE, CONFIG).inline());
            assertEquals(4, verbs.device().refusedQps());
            transport.close();
            verbs.assertClean();
        }
    }

    /** Each device for itself, whatever order they are used in; one setting asks for more than another. */
    @Test
    void shouldRememberEachDeviceForItself() throws Exception {
        try (LoopbackProvider verbs = new LoopbackProvider(new LoopbackConfig().maxInline(64))) {
            InetAddress there = InetAddress.getByName("127.0.0.9");
            verbs.addDevice(new LoopbackConfig().name("roomy").maxInline(600), there);
            RdmaTransport transport = RdmaTransport.over(verbs);
            List<Integer> granted = new CopyOnWriteArrayList<>();
            for (int asked : new int[] {128, 16, 4096, 128}) {
                granted.add(transport
                        .tryQueuePair(RawPeerTests.HERE, CONFIG.withInline(asked))
                        .inline());
                granted.add(
                        transport.tryQueuePair(there, CONFIG.withInline(asked)).inline());
            }
            assertEquals(List.of(64, 128, 16, 16, 64, 512, 64, 128), granted);
            transport.close();
            verbs.assertClean();
        }
    }

    /** A device that refuses whatever is asked is not the same as none: the reason names it, and what to do. */
    @Test
    void shouldSayThatADeviceMakesNoQueuePair() throws Exception {
        try (LoopbackProvider verbs = new LoopbackProvider(new LoopbackConfig().maxInline(-1))) {
            RdmaTransport transport = RdmaTransport.over(verbs);
            try (RdmaListener listener = transport.listen(new InetSocketAddress(RawPeerTests.HERE, 0), 5, CONFIG)) {
                RdmaConnectException e = assertThrows(RdmaConnectException.class, () -> transport
                        .connect(null, listener.localAddress(), CONFIG)
                        .await(StreamPair.PATIENCE));
                assertEquals(Reason.RESOURCES, e.reason());
                assertTrue(
                        e.getMessage().contains("refuses a queue pair")
                                && e.getMessage().contains("queue.send"),
                        e.getMessage());
            }
            transport.close();
            verbs.assertClean();
        }
    }
}
