/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.jrsocket.connect.ConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which side the two properties choose. */
class AgentTest {

    private static final String NET = "org.jrsocket.net.RSocketImpl";

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "-, -, true, true",
                "org.jrsocket.net.RSocketImpl, -, true, false",
                "-, org.jrsocket.nio.RSelectorProvider, false, true",
                "org.jrsocket.net.RSocketImpl, org.jrsocket.nio.RSelectorProvider, true, true",
                "-, sun.nio.ch.PollSelectorProvider, true, false",
                "org.jrsocket.net.RSocketImpl, sun.nio.ch.PollSelectorProvider, true, false"
            })
    void shouldInstallTheSidesThatTheirPropertiesName(String net, String nio, boolean sockets, boolean channels)
            throws Exception {
        assertEquals(sockets, Installation.wantsSockets(net, nio));
        assertEquals(channels, Installation.wantsChannels(net, nio));
    }

    @Test
    void shouldRefuseASocketImplThatIsNotOurs() {
        assertEquals(
                "-Djava.net.SocketImpl: \"com.example.Impl\" is unknown; the only value is " + NET,
                assertThrows(ConfigurationException.class, () -> Installation.wantsSockets("com.example.Impl", null))
                        .getMessage());
    }
}
