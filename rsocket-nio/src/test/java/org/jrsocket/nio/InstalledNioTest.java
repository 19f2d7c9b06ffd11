/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/**
 * The provider that this JVM has: in the build the JDK's own, which is the reference; in the lab, under the agent, ours
 * over a device.
 */
@Tag("lab")
@Tag("installed")
class InstalledNioTest extends NioBehaviours {

    private static NioKind kind;

    @BeforeAll
    static void open() throws Exception {
        kind = NioKind.installed();
    }

    @AfterAll
    static void everythingIsGivenBack() throws Exception {
        kind.close();
    }

    @Override
    NioKind kind() {
        return kind;
    }
}
