/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Races that our selector has to survive; JDK 17's own does not survive all of them. */
class SelectorStressTest extends LoopbackChannelTests {

    /** Channels of all sorts: connected over RDMA, not connected, listening on both, the JDK's. */
    private List<SelectableChannel> channels() throws IOException {
        List<SelectableChannel> all = new ArrayList<>();
        Pair pair = nonBlockingPair();
        all.add(pair.client());
        all.add(pair.server());
        all.add(nonBlocking(open()));
        all.add(nonBlocking(listening()));
        all.add(nonBlocking(closing(kind.provider().openDatagramChannel())));
        Pipe pipe = kind.provider().openPipe();
        closing(pipe.sink());
        all.add(nonBlocking(closing(pipe.source())));
        return all;
    }

    private static int anyOp(SelectableChannel channel) {
        return Integer.lowestOneBit(channel.validOps());
    }

    @Test
    void shouldSurviveSelectorsThatCloseWhileOthersRegister() throws Exception {
        List<SelectableChannel> channels = channels();
        for (int round = 0; round < 200; round++) {
            Selector selector = selector();
            List<Future<?>> registering = new ArrayList<>();
            for (SelectableChannel channel : channels) {
                registering.add(background(() -> {
                    try {
                        channel.register(selector, anyOp(channel));
                    } catch (ClosedSelectorException e) {
                        // that is how it may end
                    }
                }));
            }
            if (round % 2 == 0) {
                pause(round % 3);
            }
            selector.close();
            for (Future<?> one : registering) {
                get(one);
            }
            for (SelectableChannel channel : channels) {
                SelectionKey key = channel.keyFor(selector);
                assertTrue(key == null || !key.isValid(), () -> key + " of " + channel);
            }
        }
        for (SelectableChannel channel : channels) {
            channel.configureBlocking(true); // refused to a channel that believes it is registered
        }
    }

    @Test
    void shouldSurviveSelectorsThatCloseWhileTheySelect() throws Exception {
        List<SelectableChannel> channels = channels();
        for (int round = 0; round < 100; round++) {
            Selector selector = selector();
            for (SelectableChannel channel : channels) {
                channel.register(selector, anyOp(channel));
            }
            Future<?> selecting = background(() -> {
                try {
                    while (true) {
                        selector.select();
                        selector.selectedKeys().clear();
                    }
                } catch (ClosedSelectorException e) {
                    // as it should
                }
            });
            pause(round % 3);
            selector.close();
            get(selecting);
        }
    }

    @Test
    void shouldSelectWhileChannelsRegisterCancelAndClose() throws Exception {
        Selector selector = selector();
        AtomicBoolean over = new AtomicBoolean();
        Future<?> selecting = background(() -> {
            while (!over.get()) {
                selector.select(5);
                selector.selectedKeys().clear();
            }
        });
        List<Future<?>> others = new ArrayList<>();
        for (int t = 0; t < 3; t++) {
            others.add(background(() -> {
                for (int round = 0; round < 60; round++) {
                    Pair pair = nonBlockingPair();
                    SelectionKey key = pair.client().register(selector, SelectionKey.OP_READ);
                    pair.server().register(selector, SelectionKey.OP_WRITE);
                    key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
                    pair.server().write(text("x"));
                    if (round % 2 == 0) {
                        key.cancel();
                        selector.wakeup();
                    }
                    pair.client().close();
                    pair.server().close();
                }
            }));
        }
        for (Future<?> one : others) {
            get(one);
        }
        over.set(true);
        selector.wakeup();
        get(selecting);
        selector.selectNow();
        assertEquals(0, selector.keys().size());
    }
}
