/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.Rules;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The selectors of event loops: they leave nobody out, though they do not ask the kernel at each selection. */
@Tag("slow")
class EventLoopSelectorTest extends SelectionFairnessSuite {

    private static final int SELECTIONS = 1000;

    private static NioKind.OverLoopback kind;

    @BeforeAll
    static void openKind() throws Exception {
        kind = new NioKind.OverLoopback("policy=auto,memory.rejected=0", Rules.NONE) {
            @Override
            Selector openSelector() throws IOException {
                return ((RSelectorProvider) provider()).openEventLoopSelector();
            }

            @Override
            boolean isRdma() {
                return true;
            }
        };
    }

    @AfterAll
    static void everythingIsGivenBack() throws IOException {
        kind.close();
    }

    @Override
    NioKind kind() {
        return kind;
    }

    @Override
    void pauseUntilTheKernelIsAsked() {
        long start = System.nanoTime();
        while (System.nanoTime() - start <= Selection.YIELD_NANOS) {
            Thread.onSpinWait();
        }
    }

    /** That looks once, if its keys are always busy. */
    private RSelector patient() throws IOException {
        ProviderServices services = ((RSelectorProvider) kind.provider()).services();
        return closing(RSelector.forEventLoop(
                services, JdkChannels.defaultProvider().openSelector(), TimeUnit.HOURS.toNanos(1)));
    }

    @Test
    void shouldAskTheKernelNothingWhileItIsBusy() throws IOException {
        RSelector selector = patient();
        nonBlockingPair().client().register(selector, SelectionKey.OP_READ); // of which only the kernel would tell
        nonBlocking(listening()).register(selector, SelectionKey.OP_ACCEPT);
        nonBlockingPair().client().register(selector, SelectionKey.OP_WRITE); // which is always ready
        assertEquals(1, selector.select());
        selector.selectedKeys().clear();
        long before = selector.selection().looks();
        for (int i = 0; i < SELECTIONS; i++) {
            assertEquals(1, i % 2 == 0 ? selector.select() : selector.selectNow());
            selector.selectedKeys().clear();
        }
        assertEquals(0, selector.selection().looks() - before);
    }

    @Test
    void shouldSeeWhatTheKernelTellsBeforeItSleeps() throws IOException {
        RSelector selector = patient();
        Pair p = nonBlockingPair();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        ServerSocketChannel listener = nonBlocking(listening());
        SelectionKey server = listener.register(selector, SelectionKey.OP_ACCEPT);
        for (int i = 0; i < 200; i++) { // until it polls none of them any more
            assertEquals(0, selector.selectNow());
        }
        p.server().write(text("a"));
        assertEquals(1, selector.select(30_000));
        assertTrue(key.isReadable());
        assertEquals("a", read(p.client(), 1));
        selector.selectedKeys().clear();
        nonBlocking(open()).connect(listener.getLocalAddress());
        assertEquals(1, selector.select(30_000));
        assertTrue(server.isAcceptable());
    }
}
