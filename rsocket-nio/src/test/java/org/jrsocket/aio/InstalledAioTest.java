/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/**
 * The provider that this JVM has: in the build the JDK's own, which is the reference; in the lab, under the agent, ours
 * over a device.
 */
@Tag("lab")
@Tag("installed")
class InstalledAioTest extends AioBehaviours {

    private static AioKind kind;

    @BeforeAll
    static void open() throws Exception {
        kind = AioKind.installed();
    }

    @AfterAll
    static void everythingIsGivenBack() throws Exception {
        kind.assertUsedIfConnected();
        kind.close();
    }

    @Override
    AioKind kind() {
        return kind;
    }
}
