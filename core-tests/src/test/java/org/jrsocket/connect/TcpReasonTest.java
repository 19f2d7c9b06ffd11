/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a line of the log says of a reason and an exception. */
class TcpReasonTest {

    @Test
    void shouldAddWhatTheExceptionSays() {
        assertEquals(
                "no RDMA device serves this address (rdma_resolve_addr (/192.0.2.1:1): No such device)",
                TcpReason.NO_DEVICE.text(new IOException("rdma_resolve_addr (/192.0.2.1:1): No such device")));
    }

    @Test
    void shouldAddNothingIfTheExceptionSaysNothing() {
        assertEquals("the policy says so", TcpReason.POLICY.text(null));
        assertEquals("RDMA is not available", TcpReason.UNAVAILABLE.text(new IOException()));
    }

    @ParameterizedTest
    @EnumSource(names = {"DENIED", "BUSY", "UNABLE", "UNREACHABLE"})
    void shouldNotSayTheSameTwice(TcpReason reason) {
        assertEquals(reason.text(), reason.text(new IOException("the same in other words")));
    }
}
