/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetAddress;
import org.jrsocket.nio.NioKind;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The programs of {@link RandomProgramsTest} over a real device; runs in the lab. */
@Tag("device")
@Tag("lab")
class AioProgramsLabTest {

    @Test
    void shouldDoOverADeviceWhatTheJdkDoes() throws Exception {
        String address = System.getenv("ROCE_LAB_ADDR");
        assumeTrue(address != null, "no RoCEv2 lab around this process (scripts/roce-lab)");
        RandomProgramsTest.compare(AioKind.device(NioKind.device(InetAddress.getByName(address))));
    }
}
