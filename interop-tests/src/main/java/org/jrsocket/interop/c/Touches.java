/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * Short connections, one after the other: a byte each way, then an end in one of several ways. The byte says how the
 * server ends it.
 */
final class Touches {

    private static final byte WAIT = 0;
    private static final byte CLOSE = 1;
    private static final byte ABORT = 2;

    private Touches() {}

    /** Serves until the door is closed; how many. */
    static int serve(Network.Door door) {
        for (int count = 0; ; count++) {
            Link link;
            try {
                link = door.accept();
            } catch (IOException e) {
                return count;
            }
            Thread thread = new Thread(() -> answer(link));
            thread.setDaemon(true);
            thread.start();
        }
    }

    private static void answer(Link link) {
        byte[] one = new byte[1];
        try {
            if (link.read(one, 0, 1) == 1) {
                byte how = one[0];
                link.write(one, 0, 1);
                if (how == ABORT) {
                    link.abort();
                }
                while (how == WAIT && link.read(one, 0, 1) > 0) {
                    // until the client has closed
                }
            }
        } catch (IOException e) {
            // a client that aborts
        } finally {
            close(link);
        }
    }

    private static void close(Link link) {
        try {
            link.close();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Makes so many connections; how many. */
    static int make(Network network, InetSocketAddress server, int count) throws IOException {
        byte[] one = new byte[1];
        for (int i = 0; i < count; i++) {
            Link link = network.connect(server);
            one[0] = new byte[] {WAIT, CLOSE, ABORT, WAIT}[i % 4];
            try {
                link.write(one, 0, 1);
                if (link.read(one, 0, 1) != 1 && i % 4 != 2) {
                    throw new EOFException("connection " + i);
                }
                switch (i % 4) {
                    case 1 -> {
                        if (link.read(one, 0, 1) >= 0) {
                            throw new IOException("connection " + i + " brings more than was sent");
                        }
                    }
                    case 3 -> link.abort();
                    default -> {
                        // closed below
                    }
                }
            } catch (IOException e) {
                if (i % 4 != 2) {
                    throw e;
                }
            } finally {
                link.close();
            }
        }
        return count;
    }
}
