/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The whole suite, for one kind of provider. */
abstract class AioBehaviours {

    abstract AioKind kind();

    @Nested
    @Tag("transport")
    class Connecting extends AioConnectSuite {
        @Override
        AioKind kind() {
            return AioBehaviours.this.kind();
        }
    }

    @Nested
    @Tag("transport")
    class Transferring extends AioTransferSuite {
        @Override
        AioKind kind() {
            return AioBehaviours.this.kind();
        }
    }

    @Nested
    class Failing extends AioFailureSuite {
        @Override
        AioKind kind() {
            return AioBehaviours.this.kind();
        }
    }

    @Nested
    class Grouping extends AioGroupSuite {
        @Override
        AioKind kind() {
            return AioBehaviours.this.kind();
        }
    }

    @Nested
    @Tag("transport")
    class Options extends AioOptionSuite {
        @Override
        AioKind kind() {
            return AioBehaviours.this.kind();
        }
    }

    @Nested
    @Tag("transport")
    class Many extends AioManySuite {
        @Override
        AioKind kind() {
            return AioBehaviours.this.kind();
        }
    }
}
