/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import io.netty.testsuite.transport.socket.SocketSslEchoTest;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.TestInfo;

/**
 * Of the 192 combinations of {@code SocketSslEchoTest}, which take longer than all the rest of the suite, a quarter:
 * with each pair of TLS engines and each kind of renegotiation, 8 of the 32 settings of its five flags, so that any two
 * of the flags still have all four settings together. Of those, suites tagged "tcp" or "lent" run half, in which each
 * flag has both settings: what carries the bytes there is the JDK's, or has run them with memory copied.
 * {@code -Djrsocket.tls.echoes=all} runs them all.
 */
public final class TlsEchoes {

    private static final boolean ALL = "all".equals(System.getProperty("jrsocket.tls.echoes"));

    private TlsEchoes() {}

    /** Called by JUnit. The flags of a combination are the low bits of its number. */
    static List<Object[]> some(TestInfo test) throws Exception {
        boolean half = test.getTags().contains("tcp") || test.getTags().contains("lent");
        List<Object[]> some = new ArrayList<>();
        int number = 0;
        for (Object[] combination : SocketSslEchoTest.data()) {
            int flags = number++ & 31;
            if (ALL || isKept(flags) && (!half || isOfHalf(flags))) {
                some.add(combination);
            }
        }
        return some;
    }

    /** Three flags have all settings; the other two follow from them, each from two. */
    static boolean isKept(int flags) {
        boolean delegated = (flags & 16) != 0; // the server's tasks
        boolean clientDelegated = (flags & 8) != 0;
        boolean autoRead = (flags & 4) != 0;
        boolean chunked = (flags & 2) != 0;
        boolean composite = (flags & 1) != 0;
        return chunked == (delegated ^ clientDelegated) && composite == (delegated ^ autoRead);
    }

    static boolean isOfHalf(int flags) {
        boolean autoRead = (flags & 4) != 0;
        boolean chunked = (flags & 2) != 0;
        return autoRead == chunked;
    }
}
