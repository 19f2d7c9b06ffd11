/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ShutdownChannelGroupException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jrsocket.nio.FailingSelector;
import org.junit.jupiter.api.Test;

/** A group whose selector fails closes its channels: whoever waits hears of it, instead of waiting for ever. */
class FailingGroupTest extends LoopbackAioTests {

    @Test
    void shouldCloseTheChannelsOfOneThread() throws Exception {
        assertClosesItsChannels(fixed(1));
    }

    @Test
    void shouldCloseTheChannelsOfSeveralThreads() throws Exception {
        assertClosesItsChannels(fixed(3));
    }

    @Test
    void shouldCloseTheChannelsOfAnExecutor() throws Exception {
        assertClosesItsChannels(ending(
                kind().provider().openAsynchronousChannelGroup(Executors.newCachedThreadPool(daemons("pool")), 0)));
    }

    private void assertClosesItsChannels(AsynchronousChannelGroup group) throws Exception {
        AsynchronousChannelGroup peers = fixed(1); // theirs: a reader may see its peer's close before its own
        Pair pair = pair(group, peers);
        Pair second = pair(group, peers);
        AsynchronousServerSocketChannel listener = openServer(group).bind(anyPort());
        Told<AsynchronousSocketChannel> accepting = new Told<>();
        listener.accept(null, accepting);
        Told<Integer> reading = new Told<>();
        pair.client().read(ByteBuffer.allocate(1), null, reading);
        Future<Integer> other = second.client().read(ByteBuffer.allocate(1));
        IOException failure = new IOException("a test's");
        failure.setStackTrace(new StackTraceElement[0]); // it is logged
        FailingSelector.fail(((RAsynchronousChannelGroup) group).loop().selector(), failure);
        assertFails(AsynchronousCloseException.class, other);
        assertFails(AsynchronousCloseException.class, reading.outcome);
        assertFails(AsynchronousCloseException.class, accepting.outcome);
        assertFalse(listener.isOpen());
        assertFalse(pair.client().isOpen());
        assertTrue(group.awaitTermination(60, TimeUnit.SECONDS));
        assertThrows(ShutdownChannelGroupException.class, () -> open(group));
    }
}
