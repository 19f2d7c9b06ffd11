/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.rdmacore.RdmaCoreProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The stream over a real device; runs in the lab. */
@Tag("device")
@Tag("lab")
class RdmaCoreStreamTest extends StreamBehaviour {

    private static VerbsProvider provider;

    @BeforeAll
    static void findDevice() throws IOException {
        assumeTrue(System.getenv("ROCE_LAB_ADDR") != null, "no RoCEv2 lab around this process (scripts/roce-lab)");
        provider = RdmaCoreProvider.open();
    }

    @Override
    VerbsProvider provider() {
        return provider;
    }

    @Override
    InetAddress address() {
        try {
            return InetAddress.getByName(System.getenv("ROCE_LAB_ADDR"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    int bulk() {
        return 32 << 20;
    }

    @Override
    int manyTimes() {
        return 1500; // each takes some milliseconds in an emulated machine
    }
}
