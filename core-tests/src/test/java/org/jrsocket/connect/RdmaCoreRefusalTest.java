/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.jrsocket.verbs.rdmacore.RdmaCoreProvider;
import org.junit.jupiter.api.Tag;

/** {@link RefusalTests} on a real device; runs in the lab. The rules admit its IPv6 address and not its IPv4 one. */
@Tag("device")
@Tag("lab")
class RdmaCoreRefusalTest extends RefusalTests {

    @Override
    VerbsProvider verbs() throws VerbsUnavailableException {
        assumeTrue(System.getenv("ROCE_LAB_ADDR") != null, "no RoCEv2 lab around this process (scripts/roce-lab)");
        return RdmaCoreProvider.open();
    }

    @Override
    InetAddress admitted() throws IOException {
        return InetAddress.getByName(System.getenv("ROCE_LAB_ADDR6"));
    }

    @Override
    InetAddress refused() throws IOException {
        return InetAddress.getByName(System.getenv("ROCE_LAB_ADDR"));
    }

    @Override
    InetAddress any() throws IOException {
        return InetAddress.getByName("::");
    }

    @Override
    int requests() {
        return 150; // an emulated machine
    }
}
