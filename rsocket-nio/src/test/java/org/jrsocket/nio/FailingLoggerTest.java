/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The logger throws when it is told that a connection uses TCP: the first one of a provider's is a warning. */
@Tag("once")
class FailingLoggerTest extends LoopbackChannelTests {

    private final IllegalStateException failure = new IllegalStateException("as the test wants");
    private final PrintStream realErr = System.err;

    @BeforeEach
    void fallBack() throws Exception {
        use(NioKind.fallback());
    }

    @AfterEach
    void restore() {
        System.setErr(realErr);
    }

    private void breakLogger() {
        System.setErr(new PrintStream(OutputStream.nullOutputStream()) {
            @Override
            public void println(String line) {
                throw failure;
            }
        });
    }

    /** If it stayed pending, a {@code finishConnect} would wait for ever. */
    @Test
    void shouldCloseAChannelThatConnectsBlocking() throws Exception {
        SocketChannel client = open();
        var server = listening().getLocalAddress();
        breakLogger();
        assertSame(failure, assertThrows(IllegalStateException.class, () -> client.connect(server)));
        assertFalse(client.isOpen());
        assertFalse(client.isConnectionPending());
        assertThrows(ClosedChannelException.class, client::finishConnect);
    }

    @Test
    void shouldLetAChannelThatDoesNotBlockFinishItsConnect() throws Exception {
        SocketChannel client = nonBlocking(open());
        var server = listening().getLocalAddress();
        breakLogger();
        int failures = 0;
        for (boolean connected = client.connect(server); !connected; ) {
            try {
                connected = client.finishConnect();
            } catch (IllegalStateException e) {
                failures++;
                restore();
            }
        }
        assertTrue(failures <= 1);
        assertTrue(client.isConnected());
    }
}
