/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The whole suite, for one kind of provider. */
abstract class NioBehaviours {

    abstract NioKind kind();

    @Nested
    class Connecting extends ConnectSuite {
        @Override
        NioKind kind() {
            return NioBehaviours.this.kind();
        }
    }

    @Nested
    @Tag("transport")
    class Selecting extends SelectorSuite {
        @Override
        NioKind kind() {
            return NioBehaviours.this.kind();
        }
    }

    @Nested
    @Tag("transport")
    class Keys extends KeySuite {
        @Override
        NioKind kind() {
            return NioBehaviours.this.kind();
        }
    }

    @Nested
    @Tag("transport")
    class Fairness extends SelectionFairnessSuite {
        @Override
        NioKind kind() {
            return NioBehaviours.this.kind();
        }
    }

    @Nested
    @Tag("transport")
    class SelectionRaces extends SelectionRaceSuite {
        @Override
        NioKind kind() {
            return NioBehaviours.this.kind();
        }
    }

    @Nested
    @Tag("transport")
    class Readiness extends ReadinessSuite {
        @Override
        NioKind kind() {
            return NioBehaviours.this.kind();
        }
    }

    @Nested
    @Tag("transport")
    class Data extends DataSuite {
        @Override
        NioKind kind() {
            return NioBehaviours.this.kind();
        }
    }

    @Nested
    @Tag("transport")
    class StreamEnds extends StreamEndSuite {
        @Override
        NioKind kind() {
            return NioBehaviours.this.kind();
        }
    }

    @Nested
    @Tag("transport")
    class JdkHelpers extends JdkHelpersSuite {
        @Override
        NioKind kind() {
            return NioBehaviours.this.kind();
        }
    }

    @Nested
    class Blocking extends BlockingSuite {
        @Override
        NioKind kind() {
            return NioBehaviours.this.kind();
        }
    }

    @Nested
    @Tag("transport")
    class Closing extends CloseSuite {
        @Override
        NioKind kind() {
            return NioBehaviours.this.kind();
        }
    }

    @Nested
    @Tag("transport")
    class InterruptedCalls extends InterruptedCallSuite {
        @Override
        NioKind kind() {
            return NioBehaviours.this.kind();
        }
    }

    @Nested
    @Tag("transport")
    class Contending extends ContentionSuite {
        @Override
        NioKind kind() {
            return NioBehaviours.this.kind();
        }
    }

    @Nested
    @Tag("transport")
    class Options extends OptionSuite {
        @Override
        NioKind kind() {
            return NioBehaviours.this.kind();
        }
    }

    @Nested
    class Adaptors extends AdaptorSuite {
        @Override
        NioKind kind() {
            return NioBehaviours.this.kind();
        }
    }

    @Nested
    class ServerAdaptors extends ServerAdaptorSuite {
        @Override
        NioKind kind() {
            return NioBehaviours.this.kind();
        }
    }
}
