/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.faults;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/**
 * Short forms of {@link Scenarios}, one after the other; the whole ones are {@code scripts/faults}. Those that cost more
 * of the processors' time run where {@code jrsocket.faults.all} is set.
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
        List<Scenario> scenarios = Boolean.getBoolean("jrsocket.faults.all") ? Scenarios.brief() : Scenarios.cheap();
        return scenarios.stream()
                .map(scenario -> DynamicTest.dynamicTest(
                        scenario.title(), () -> System.out.println(scenario.title() + ": " + hosts.play(scenario))));
    }
}
