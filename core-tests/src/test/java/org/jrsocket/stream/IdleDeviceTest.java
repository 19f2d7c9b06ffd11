/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.InetAddress;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The device that does nothing keeps a stream going, or what is measured on it is nothing. */
class IdleDeviceTest {

    /** Many times the memory and the credits of both ends: they have to come back. */
    private static final int MESSAGES = 100_000;

    private static final int SIZE = 64;

    private static void with(LoopbackConfig config, Use use) throws IOException {
        try (LoopbackProvider provider = new LoopbackProvider(config)) {
            try (RdmaTransport transport = RdmaTransport.over(provider);
                    StreamPair pair =
                            StreamPair.connect(transport, InetAddress.getLoopbackAddress(), StreamConfig.DEFAULT)) {
                use.of(pair.client);
                pair.client.abort();
                pair.server.abort();
                assertEquals(0, provider.messageCount(), "messages that a device carried");
            }
            provider.assertClean();
        }
    }

    private interface Use {
        void of(RdmaStream client) throws IOException;
    }

    @Test
    void shouldTakeWhateverIsWritten() throws IOException {
        with(new LoopbackConfig().idle(0, 0), client -> {
            for (int i = 0; i < MESSAGES; i++) {
                client.write(new byte[SIZE], 0, SIZE, StreamPair.PATIENCE);
            }
            assertEquals((long) MESSAGES * SIZE, client.bytesWritten());
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 16})
    void shouldHaveMessagesReadyForWhoeverReads(int ready) throws IOException {
        with(new LoopbackConfig().idle(SIZE, ready), client -> {
            for (int i = 0; i < MESSAGES; i++) {
                assertEquals(SIZE, client.read(new byte[SIZE], 0, SIZE, StreamPair.PATIENCE));
            }
        });
    }

    @Test
    void shouldFailAsOthersDo() throws IOException {
        with(new LoopbackConfig().idle(SIZE, 1), client -> {
            client.abort();
            assertThrows(IOException.class, () -> client.write(new byte[SIZE], 0, SIZE, StreamPair.PATIENCE));
        });
    }
}
