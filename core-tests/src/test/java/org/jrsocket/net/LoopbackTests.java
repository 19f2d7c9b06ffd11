/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.ConfigurationException;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Our sockets over RDMA, on loopback verbs. */
final class LoopbackTests {

    static final SocketKind KIND;

    private static final LoopbackProvider VERBS = new LoopbackProvider();
    private static final RdmaTransport TRANSPORT;

    static {
        try {
            TRANSPORT = RdmaTransport.over(VERBS);
            // One test must not spoil another, and a busy machine is not a silent peer.
            String text = "memory.unanswered=0,memory.rejected=0,connect.timeout=50s";
            Settings settings = Settings.read(text, new Properties(), Map.of());
            KIND = SocketKind.over(new TransportContext(settings, Rules.NONE, TransportHolder.of(TRANSPORT)), true);
        } catch (IOException | ConfigurationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private LoopbackTests() {}

    /** The tests of a class have closed all that they opened, and used the verbs as devices want to be used. */
    static final class LeavesNothing implements AfterAllCallback {

        @Override
        public void afterAll(ExtensionContext context) throws InterruptedException {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (TRANSPORT.liveStreams() > 0) {
                assertTrue(System.nanoTime() - deadline < 0, () -> "not freed: " + TRANSPORT.streams());
                Thread.sleep(1);
            }
            assertEquals(List.of(), VERBS.violations());
        }
    }
}

@ExtendWith(LoopbackTests.LeavesNothing.class)
class LoopbackConnectTest extends ConnectBehaviour {
    LoopbackConnectTest() {
        super(LoopbackTests.KIND);
    }
}

@ExtendWith(LoopbackTests.LeavesNothing.class)
class LoopbackReadTest extends ReadBehaviour {
    LoopbackReadTest() {
        super(LoopbackTests.KIND);
    }
}

@ExtendWith(LoopbackTests.LeavesNothing.class)
class LoopbackWriteTest extends WriteBehaviour {
    LoopbackWriteTest() {
        super(LoopbackTests.KIND);
    }
}

@ExtendWith(LoopbackTests.LeavesNothing.class)
class LoopbackCloseTest extends CloseBehaviour {
    LoopbackCloseTest() {
        super(LoopbackTests.KIND);
    }
}

@ExtendWith(LoopbackTests.LeavesNothing.class)
class LoopbackOptionTest extends OptionBehaviour {
    LoopbackOptionTest() {
        super(LoopbackTests.KIND);
    }
}

@ExtendWith(LoopbackTests.LeavesNothing.class)
class LoopbackServerTest extends ServerBehaviour {
    LoopbackServerTest() {
        super(LoopbackTests.KIND);
    }
}
