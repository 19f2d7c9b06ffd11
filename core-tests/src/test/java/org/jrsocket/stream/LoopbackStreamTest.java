/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.SocketException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The stream over loopback verbs: all of its behaviour, no RNR ever, every object given back; and what a real device
 * will not do on request.
 */
class LoopbackStreamTest extends StreamBehaviour {

    LoopbackProvider verbs;

    LoopbackConfig config() {
        return new LoopbackConfig();
    }

    @Override
    VerbsProvider provider() {
        verbs = new LoopbackProvider(config());
        return verbs;
    }

    @Override
    InetAddress address() {
        return InetAddress.getLoopbackAddress();
    }

    @Override
    int bulk() {
        return 64 << 20;
    }

    @Override
    @AfterEach
    void everythingIsGivenBack() throws Exception {
        super.everythingIsGivenBack();
        assertEquals(0, verbs.rnrCount(), "messages that found no receive posted");
        verbs.assertClean();
        verbs.close();
    }

    @Test
    void shouldFailAReaderWhenTheQueuePairBreaks() throws Exception {
        try (StreamPair p = pair()) {
            Future<SocketException> reader =
                    background(() -> assertThrows(SocketException.class, () -> p.client.read(new byte[1], 0, 1, 0)));
            awaitInside("read", 1);
            verbs.qps().forEach(verbs.faults()::breakQp);
            assertEquals("Connection reset", get(reader).getMessage());
        }
    }

    @Test
    void shouldFailReaderAndWriterWhenTheDeviceIsRemoved() throws Exception {
        try (StreamPair p = pair()) {
            Future<SocketException> reader =
                    background(() -> assertThrows(SocketException.class, () -> p.client.read(new byte[1], 0, 1, 0)));
            Future<SocketException> writer = background(
                    () -> assertThrows(SocketException.class, () -> p.client.write(new byte[8 << 20], 0, 8 << 20, 0)));
            awaitInside("read", 1);
            awaitInside("write", 1);
            verbs.faults().removeDevice(verbs.device());
            assertEquals("Connection reset", get(reader).getMessage());
            assertTrue(get(writer).getMessage().matches("Connection reset|Broken pipe"));
        }
    }

    @Test
    void shouldFailAWriterWhosePeerNoLongerAnswers() throws Exception {
        try (StreamPair p = pair()) {
            verbs.faults().killAll(true);
            SocketException e =
                    assertThrows(SocketException.class, () -> p.client.write(new byte[8 << 20], 0, 8 << 20, 0));
            assertTrue(e.getMessage().matches("Connection reset|Broken pipe"), e.getMessage());
        }
    }

    @Test
    void shouldNoticeADeadPeerByKeepAliveAlone() throws Exception {
        try (StreamPair p = pair()) {
            p.client.keepAlive(10_000_000);
            Future<SocketException> reader =
                    background(() -> assertThrows(SocketException.class, () -> p.client.read(new byte[1], 0, 1, 0)));
            awaitInside("read", 1);
            verbs.faults().killAll(true);
            assertEquals("Connection reset", get(reader).getMessage());
        }
    }

    @Test
    void shouldFinishAReadThatHasDataBeforeItReportsTheReset() throws Exception {
        try (StreamPair p = pair()) {
            p.server.write(new byte[5], 0, 5, 0);
            assertTrue(p.client.awaitReadable(StreamPair.PATIENCE));
            verbs.qps().forEach(verbs.faults()::breakQp);
            byte[] b = new byte[10];
            assertEquals(5, p.client.read(b, 0, 10, StreamPair.PATIENCE));
            assertThrows(SocketException.class, () -> p.client.read(b, 0, 10, StreamPair.PATIENCE));
        }
    }

    /** Each probe is a request of its own, and an idle stream has nobody who waits for requests to be done. */
    @Test
    void shouldNoticeADeadPeerByKeepAliveAfterMoreProbesThanTheSendQueueHolds() throws Exception {
        StreamConfig config = StreamConfig.DEFAULT.withQueues(16, 16);
        try (StreamPair p = StreamPair.connect(transport, address(), config)) {
            AtomicInteger probes = new AtomicInteger();
            p.client.keepAlive(1_000_000);
            Future<SocketException> reader =
                    background(() -> assertThrows(SocketException.class, () -> p.client.read(new byte[1], 0, 1, 0)));
            transport.service().execute(new Runnable() {
                @Override
                public void run() { // the probes' own thread: one millisecond later there has been another
                    if (probes.incrementAndGet() < 100) {
                        transport.service().schedule(this, 1_000_000);
                    }
                }
            });
            RawPeer.await(() -> probes.get() == 100, () -> "the service thread stands still");
            verbs.faults().killAll(true);
            assertEquals("Connection reset", get(reader).getMessage());
        }
    }

    /** The failure may be seen by a writer, while what had arrived is in the queue still. */
    @Test
    void shouldReadWhatHadArrivedThoughAWriterSawTheFailureFirst() throws Exception {
        try (StreamPair p = pair()) {
            CountDownLatch second = new CountDownLatch(1);
            verbs.onMessage((from, to, opcode, imm, length, address, key) -> {
                if (length == 1) {
                    second.countDown();
                }
            });
            p.server.write(new byte[5], 0, 5, 0);
            p.server.write(new byte[1], 0, 1, 0); // behind which the first has certainly arrived
            assertTrue(second.await(60, TimeUnit.SECONDS));
            verbs.qps().forEach(verbs.faults()::breakQp);
            assertThrows(SocketException.class, () -> {
                for (; ; ) {
                    p.client.write(new byte[1], 0, 1, StreamPair.PATIENCE);
                }
            });
            byte[] b = new byte[5];
            assertEquals(5, p.client.read(b, 0, 5, StreamPair.PATIENCE));
            p.client.read(b, 0, p.client.available(), StreamPair.PATIENCE);
            assertEquals(
                    "Connection reset",
                    assertThrows(SocketException.class, () -> p.client.read(b, 0, 5, StreamPair.PATIENCE))
                            .getMessage());
        }
    }

    @Test
    void shouldPassOnARefusalWithItsReason() throws IOException {
        verbs.faults().rejectConnects(1, 28);
        RdmaConnectException e = assertThrows(RdmaConnectException.class, this::pair);
        assertEquals(RdmaConnectException.Reason.REFUSED, e.reason());
        String words = verbs.device().isIwarp() ? "Connection refused" : "Connection refused, reject reason 28";
        assertTrue(e.getMessage().startsWith(words + ": RDMA to 127.0.0.1:"), e.getMessage());
    }
}
