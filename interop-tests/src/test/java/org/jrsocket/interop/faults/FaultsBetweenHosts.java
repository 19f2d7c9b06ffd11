/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.faults;

import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/**
 * Short forms of {@link Scenarios}, one after the other; the whole ones are {@code scripts/faults}.
 */
@Tag("hosts")
class FaultsBetweenHosts {

    private static TwoHosts hosts;

    @BeforeAll
    static void startTraffic() throws Exception {
        Assumptions.assumeTrue(System.getenv("ROCE_LAB_PEER") != null, "needs two hosts (scripts/test hosts)");
        hosts = new TwoHosts(true);
    }

    @AfterAll
    static void stopTraffic() throws Exception {
        if (hosts != null) {
            hosts.close();
        }
    }

    @TestFactory
    Stream<DynamicTest> shouldKeepWhatIsPromised() {
        return Scenarios.brief().stream()
                .map(scenario -> DynamicTest.dynamicTest(
                        scenario.title(), () -> System.out.println(scenario.title() + ": " + hosts.play(scenario))));
    }
}
