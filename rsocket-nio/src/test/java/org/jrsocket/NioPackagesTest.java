/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class NioPackagesTest {

    @Test
    void shouldUseOnlyWhatStandsBelow() throws Exception {
        assertEquals(List.of(), PackageOrder.violations(Path.of("src/main/java")));
    }
}
