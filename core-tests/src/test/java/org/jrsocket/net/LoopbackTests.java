/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import java.io.IOException;
import java.util.Map;
import java.util.Properties;
import org.jrsocket.connect.ConfigurationException;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.verbs.loopback.LoopbackProvider;

/** Our sockets over RDMA, on loopback verbs. */
final class LoopbackTests {

    static final SocketKind KIND;

    static {
        try {
            RdmaTransport transport = RdmaTransport.over(new LoopbackProvider());
            // One test must not spoil another, and a busy machine is not a silent peer.
            String text = "memory.unanswered=0,memory.rejected=0,connect.timeout=50s";
            Settings settings = Settings.read(text, new Properties(), Map.of());
            KIND = SocketKind.over(new TransportContext(settings, Rules.NONE, TransportHolder.of(transport)), true);
        } catch (IOException | ConfigurationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private LoopbackTests() {}
}

class LoopbackConnectTest extends ConnectBehaviour {
    LoopbackConnectTest() {
        super(LoopbackTests.KIND);
    }
}

class LoopbackReadTest extends ReadBehaviour {
    LoopbackReadTest() {
        super(LoopbackTests.KIND);
    }
}

class LoopbackWriteTest extends WriteBehaviour {
    LoopbackWriteTest() {
        super(LoopbackTests.KIND);
    }
}

class LoopbackCloseTest extends CloseBehaviour {
    LoopbackCloseTest() {
        super(LoopbackTests.KIND);
    }
}

class LoopbackOptionTest extends OptionBehaviour {
    LoopbackOptionTest() {
        super(LoopbackTests.KIND);
    }
}

class LoopbackServerTest extends ServerBehaviour {
    LoopbackServerTest() {
        super(LoopbackTests.KIND);
    }
}
