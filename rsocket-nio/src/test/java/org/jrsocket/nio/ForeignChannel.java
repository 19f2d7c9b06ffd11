/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.nio.channels.SelectionKey;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.SelectorProvider;

/** A channel that no selector knows. */
final class ForeignChannel extends AbstractSelectableChannel {

    ForeignChannel(SelectorProvider provider) {
        super(provider);
    }

    @Override
    protected void implCloseSelectableChannel() {}

    @Override
    protected void implConfigureBlocking(boolean block) {}

    @Override
    public int validOps() {
        return SelectionKey.OP_READ;
    }
}
