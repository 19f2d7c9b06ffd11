/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** Servers on both transports, clients on TCP. */
@Tag("slow")
class TcpClientsNioTest extends NioBehaviours {

    private static NioKind kind;

    @BeforeAll
    static void open() throws Exception {
        kind = NioKind.tcpClients();
    }

    @AfterAll
    static void everythingIsGivenBack() throws Exception {
        kind.assertUsedIfConnected();
        kind.close();
    }

    @Override
    NioKind kind() {
        return kind;
    }
}
