/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.jrsocket.stream.StreamConfig;
import org.junit.jupiter.api.Test;

/** What is set on a socket before the kernel knows of it. */
class DeferredOptionsTest {

    /** Numbers are cut to ten; nothing else is accepted for sure. */
    private final DeferredOptions<String> options = new DeferredOptions<>(
            Map.of("size", 1), (name, value) -> value instanceof Integer number ? Math.min(number, 10) : null);

    @Test
    void shouldGiveTheDefaultUntilAValueIsSet() {
        assertEquals(1, options.get("size"));
        assertTrue(options.set("size", 5));
        assertEquals(5, options.get("size"));
    }

    @Test
    void shouldGiveBackWhatTheJdkWould() {
        assertTrue(options.set("size", 50));
        assertEquals(10, options.get("size"));
    }

    @Test
    void shouldLeaveTheRestToASocket() {
        assertFalse(options.set("size", "large"));
        assertEquals(1, options.get("size"));
        assertNull(options.get("colour"));
    }

    @Test
    void shouldSetOnTheSocketWhatWasSetAndNoDefault() throws IOException {
        options.set("weight", 3);
        Map<String, Object> socket = new HashMap<>();
        options.copyTo(socket::put);
        assertEquals(Map.of("weight", 3), socket);
    }

    @Test
    void shouldAskForTheSettingsBuffersWhereTheApplicationAsksForNone() throws Exception {
        Settings settings = Settings.read("buffer.max=1m", new Properties(), Map.of());
        BufferSizes buffers = new BufferSizes();
        StreamConfig plain = settings.streamConfig();
        assertEquals(plain, buffers.streamConfig(settings));
        buffers.receive(100_000);
        assertEquals(plain.withBuffers(plain.sendBuffer(), 100_000), buffers.streamConfig(settings));
        buffers.send(100 << 20);
        assertEquals(settings.maxBuffer(), buffers.streamConfig(settings).sendBuffer());
    }
}
