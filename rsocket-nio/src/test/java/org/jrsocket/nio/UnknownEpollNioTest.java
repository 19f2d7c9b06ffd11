/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.nio.channels.Selector;
import java.nio.channels.spi.SelectorProvider;
import org.jrsocket.connect.Rules;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/**
 * Selectors around one of the JDK's that has no epoll descriptor for us. They wait in the JDK's, as virtual threads do,
 * and the service thread watches the streams.
 */
@Tag("slow")
class UnknownEpollNioTest {

    private static NioKind kind;

    @BeforeAll
    static void open() throws Exception {
        SelectorProvider polling = Class.forName("sun.nio.ch.PollSelectorProvider")
                .asSubclass(SelectorProvider.class)
                .getConstructor()
                .newInstance();
        kind = new NioKind.OverLoopback("policy=auto,memory.rejected=0", Rules.NONE) {
            @Override
            Selector openSelector() throws IOException {
                return new RSelector(((RSelectorProvider) provider()).services(), polling.openSelector());
            }

            @Override
            boolean isRdma() {
                return true;
            }
        };
    }

    @AfterAll
    static void everythingIsGivenBack() throws Exception {
        kind.close();
    }

    @Nested
    class Selecting extends SelectorSuite {
        @Override
        NioKind kind() {
            return kind;
        }
    }

    @Nested
    class Keys extends KeySuite {
        @Override
        NioKind kind() {
            return kind;
        }
    }

    @Nested
    class Fairness extends SelectionFairnessSuite {
        @Override
        NioKind kind() {
            return kind;
        }
    }

    @Nested
    class Readiness extends ReadinessSuite {
        @Override
        NioKind kind() {
            return kind;
        }
    }
}
