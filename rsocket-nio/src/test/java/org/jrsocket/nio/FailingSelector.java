/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;

/** Lets a selector of ours fail. */
public final class FailingSelector {

    private FailingSelector() {}

    /** Its selection under way, or the next one. */
    public static void fail(Selector selector, Throwable failure) throws IOException {
        ScriptedChannel channel = new ScriptedChannel(selector.provider());
        channel.failure = failure;
        channel.configureBlocking(false);
        channel.register(selector, SelectionKey.OP_READ);
    }
}
