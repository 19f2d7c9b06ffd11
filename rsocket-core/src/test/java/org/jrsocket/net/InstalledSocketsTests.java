/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

// The reference: sockets as the JVM gives them. In a JVM with the agent the same tests judge the agent's.

class InstalledConnectTest extends ConnectBehaviour {
    InstalledConnectTest() {
        super(SocketKind.INSTALLED);
    }
}

class InstalledReadTest extends ReadBehaviour {
    InstalledReadTest() {
        super(SocketKind.INSTALLED);
    }
}

class InstalledWriteTest extends WriteBehaviour {
    InstalledWriteTest() {
        super(SocketKind.INSTALLED);
    }
}

class InstalledCloseTest extends CloseBehaviour {
    InstalledCloseTest() {
        super(SocketKind.INSTALLED);
    }
}

class InstalledOptionTest extends OptionBehaviour {
    InstalledOptionTest() {
        super(SocketKind.INSTALLED);
    }
}

class InstalledServerTest extends ServerBehaviour {
    InstalledServerTest() {
        super(SocketKind.INSTALLED);
    }
}
