/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import org.junit.jupiter.api.Tag;

/** The reference: sockets as the JVM gives them. In a JVM with the agent the same tests judge the agent's. */
final class InstalledSocketsTests {

    private InstalledSocketsTests() {}
}

@Tag("lab")
@Tag("installed")
class InstalledConnectTest extends ConnectBehaviour {
    InstalledConnectTest() {
        super(SocketKind.INSTALLED);
    }
}

@Tag("lab")
@Tag("installed")
@Tag("transport")
@Tag("processor")
class InstalledReadTest extends ReadBehaviour {
    InstalledReadTest() {
        super(SocketKind.INSTALLED);
    }
}

@Tag("lab")
@Tag("installed")
@Tag("transport")
@Tag("processor")
class InstalledWriteTest extends WriteBehaviour {
    InstalledWriteTest() {
        super(SocketKind.INSTALLED);
    }
}

@Tag("lab")
@Tag("installed")
class InstalledCloseTest extends CloseBehaviour {
    InstalledCloseTest() {
        super(SocketKind.INSTALLED);
    }
}

@Tag("lab")
@Tag("installed")
@Tag("transport")
class InstalledOptionTest extends OptionBehaviour {
    InstalledOptionTest() {
        super(SocketKind.INSTALLED);
    }
}

@Tag("lab")
@Tag("installed")
class InstalledServerTest extends ServerBehaviour {
    InstalledServerTest() {
        super(SocketKind.INSTALLED);
    }
}
