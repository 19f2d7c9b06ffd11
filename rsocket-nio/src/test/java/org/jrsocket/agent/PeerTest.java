/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PeerTest {

    @ParameterizedTest
    @CsvSource({"host:80,host,80", "192.0.2.1:80,192.0.2.1,80", "[2001:db8::1]:80,2001:db8::1,80"})
    void shouldTakeThePortThatIsThere(String text, String host, int port) {
        assertEquals(new Peer(text, host, port), Peer.parse(text, 7470));
        assertEquals(new Peer(text, host, port), Peer.parse(text, 0));
    }

    @ParameterizedTest
    @CsvSource({
        "host,host,host:7470",
        "192.0.2.1,192.0.2.1,192.0.2.1:7470",
        "[2001:db8::1],2001:db8::1,[2001:db8::1]:7470",
        "2001:db8::1,2001:db8::1,[2001:db8::1]:7470"
    })
    void shouldHaveADefaultPort(String text, String host, String whole) {
        assertEquals(new Peer(whole, host, 7470), Peer.parse(text, 7470));
        assertThrows(IllegalArgumentException.class, () -> Peer.parse(text, 0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ":80", "[]:80", "host:", "host:http", "host:0", "host:65536", "host:-1"})
    void shouldSayWhatItShouldBe(String text) {
        assertEquals(
                text + ": not of the form HOST or HOST:PORT",
                assertThrows(IllegalArgumentException.class, () -> Peer.parse(text, 7470))
                        .getMessage());
    }
}
