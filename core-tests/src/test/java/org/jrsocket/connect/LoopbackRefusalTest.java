/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.net.InetAddress;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;

/** {@link RefusalTests} over loopback verbs, where a client is seen with its target's address. */
@Tag("slow")
class LoopbackRefusalTest extends RefusalTests {

    private final LoopbackProvider verbs = new LoopbackProvider(new LoopbackConfig().cmTimeoutMillis(60_000));

    @Override
    VerbsProvider verbs() throws IOException {
        verbs.serve(refused(), verbs.device());
        return verbs;
    }

    @Override
    InetAddress admitted() throws IOException {
        return address(127, 0, 0, 1);
    }

    @Override
    InetAddress refused() throws IOException {
        return address(127, 0, 0, 3);
    }

    @Override
    InetAddress any() throws IOException {
        return address(0, 0, 0, 0);
    }

    private static InetAddress address(int... bytes) throws IOException {
        byte[] address = new byte[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            address[i] = (byte) bytes[i];
        }
        return InetAddress.getByAddress(address);
    }

    @Override
    int requests() {
        return 2000;
    }

    @Override
    @AfterEach
    void close() {
        super.close();
        verbs.assertClean();
        verbs.close();
    }
}
