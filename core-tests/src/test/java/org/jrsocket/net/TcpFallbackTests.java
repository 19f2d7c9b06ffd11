/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.verbs.VerbsUnavailableException;

/** Our sockets in a process without RDMA. */
final class TcpFallbackTests {

    static final SocketKind KIND = SocketKind.over(
            new TransportContext(
                    Settings.defaults(),
                    Rules.NONE,
                    TransportHolder.unavailable(new VerbsUnavailableException(
                            VerbsUnavailableException.Reason.NO_DEVICE, "this test has no RDMA device", null))),
            false);

    private TcpFallbackTests() {}
}

class TcpFallbackConnectTest extends ConnectBehaviour {
    TcpFallbackConnectTest() {
        super(TcpFallbackTests.KIND);
    }
}

class TcpFallbackReadTest extends ReadBehaviour {
    TcpFallbackReadTest() {
        super(TcpFallbackTests.KIND);
    }
}

class TcpFallbackWriteTest extends WriteBehaviour {
    TcpFallbackWriteTest() {
        super(TcpFallbackTests.KIND);
    }
}

class TcpFallbackCloseTest extends CloseBehaviour {
    TcpFallbackCloseTest() {
        super(TcpFallbackTests.KIND);
    }
}

class TcpFallbackOptionTest extends OptionBehaviour {
    TcpFallbackOptionTest() {
        super(TcpFallbackTests.KIND);
    }
}

class TcpFallbackServerTest extends ServerBehaviour {
    TcpFallbackServerTest() {
        super(TcpFallbackTests.KIND);
    }
}
