/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import org.jrsocket.PackageOrder;
import org.junit.jupiter.api.Test;

class NettyPackagesTest {

    @Test
    void shouldUseOnlyWhatStandsBelow() throws Exception {
        assertEquals(List.of(), PackageOrder.violations(Path.of("src/main/java")));
    }
}
