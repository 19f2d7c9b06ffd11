/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Map;
import java.util.Properties;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.verbs.rdmacore.RdmaCoreProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The programs of {@link RandomProgramsTest} over a real device; runs in the lab. */
@Tag("device")
@Tag("lab")
class NetProgramsLabTest {

    @Test
    void shouldDoOverADeviceWhatTheJdkDoes() throws Exception {
        assumeTrue(System.getenv("ROCE_LAB_ADDR") != null, "no RoCEv2 lab around this process (scripts/roce-lab)");
        RdmaTransport transport = RdmaTransport.over(RdmaCoreProvider.open());
        try {
            Settings patient = Settings.read(
                    "memory.unanswered=0,memory.rejected=0,connect.timeout=50s", new Properties(), Map.of());
            TransportContext context = new TransportContext(patient, Rules.NONE, TransportHolder.of(transport));
            RandomProgramsTest.compare(SocketKind.over(context, true));
        } finally {
            transport.close();
        }
    }
}
