/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.nio.channels.SelectionKey;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.SelectorProvider;
import org.jrsocket.stream.RdmaStream;

/** A channel that is what a test says, when a selector of ours looks at it. */
final class ScriptedChannel extends AbstractSelectableChannel implements RSelectionKey.RdmaSelectable {

    int ready; // operations
    Throwable failure; // of the next look; null if it does not fail
    Runnable meanwhile = () -> {}; // happens during a look
    Error leaving; // what the next end of a key fails with; null if it does not fail

    ScriptedChannel(SelectorProvider provider) {
        super(provider);
    }

    @Override
    public int readyOps(int interest, boolean poll) {
        meanwhile.run();
        if (failure != null) {
            Throwable thrown = failure;
            failure = null;
            throw ScriptedChannel.<RuntimeException>unchecked(thrown);
        }
        return ready & interest;
    }

    /** Whatever it is: an IOException stands for one of the selector's own. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // of which nothing is left in the compiled code
    private static <T extends Throwable> T unchecked(Throwable thrown) throws T {
        throw (T) thrown;
    }

    @Override
    public void join(RSelectionKey key) {}

    @Override
    public void leave(RSelectionKey key) {
        if (leaving != null) {
            Error thrown = leaving;
            leaving = null;
            throw thrown;
        }
    }

    @Override
    public int tcpInterest(int interest) {
        return 0;
    }

    @Override
    public RdmaStream stream() {
        return null;
    }

    @Override
    public int validOps() {
        return SelectionKey.OP_READ | SelectionKey.OP_WRITE;
    }

    @Override
    protected void implCloseSelectableChannel() {}

    @Override
    protected void implConfigureBlocking(boolean block) {}
}
