/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PackageOrderTest {

    @ParameterizedTest
    @ValueSource(strings = {"rsocket-core", "rsocket-testkit", "rsocket-nio", "rsocket-netty"})
    void shouldUseOnlyWhatStandsBelow(String module) throws Exception {
        assertEquals(List.of(), PackageOrder.violations(Path.of("..", module, "src/main/java")));
    }
}
