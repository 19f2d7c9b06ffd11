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
import java.util.concurrent.Future;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The stream over loopback verbs: all of its behaviour, no RNR ever, every object given back; and what a real device will not do on request. */
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
            Future<SocketException> reader = background(
                    () -> assertThrows(SocketException.class, () -> p.client.read(new byte[1], 0, 1, 0)));
            Thread.sleep(20);
            verbs.qps().forEach(verbs.faults()::breakQp);
            assertEquals("Connection reset", get(reader).getMessage());
        }
    }

    @Test
    void shouldFailReaderAndWriterWhenTheDeviceIsRemoved() throws Exception {
        try (StreamPair p = pair()) {
            Future<SocketException> reader = background(
                    () -> assertThrows(SocketException.class, () -> p.client.read(new byte[1], 0, 1, 0)));
            Future<SocketException> writer = background(
                    () -> assertThrows(SocketException.class, () -> p.client.write(new byte[8 << 20], 0, 8 << 20, 0)));
            Thread.sleep(20);
            verbs.faults().removeDevice(verbs.device());
            assertEquals("Connection reset", get(reader).getMessage());
            assertTrue(get(writer).getMessage().matches("Connection reset|Broken pipe"));
        }
    }

    @Test
    void shouldFailAWriterWhosePeerNoLongerAnswers() throws Exception {
        try (StreamPair p = pair()) {
            verbs.faults().killAll(true);
            SocketException e = assertThrows(SocketException.class, () -> p.client.write(new byte[8 << 20], 0, 8 << 20, 0));
            assertTrue(e.getMessage().matches("Connection reset|Broken pipe"), e.getMessage());
        }
    }

    @Test
    void shouldNoticeADeadPeerByKeepAliveAlone() throws Exception {
        try (StreamPair p = pair()) {
            p.client.keepAlive(10_000_000);
            Future<SocketException> reader = background(
                    () -> assertThrows(SocketException.class, () -> p.client.read(new byte[1], 0, 1, 0)));
            Thread.sleep(50);
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

    @Test
    void shouldPassOnARefusalWithItsReason() throws IOException {
        verbs.faults().rejectConnects(1, 28);
        RdmaConnectException e = assertThrows(RdmaConnectException.class, this::pair);
        assertEquals(RdmaConnectException.Reason.REFUSED, e.reason());
        assertEquals(verbs.device().isIwarp() ? "Connection refused" : "Connection refused (reject reason 28)", e.getMessage());
    }
}
