/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.nio.channels.CompletionHandler;

/**
 * The recipient of the outcome of an operation that waits for the selector: a future or a handler. {@code Transfer},
 * whose operations follow one another for as long as the channel lives, has these in fields of its own and allocates
 * nothing.
 *
 * @param future null if there is a handler
 * @param handler null if there is a future
 */
record WaitingOperation<V>(PendingFuture<V> future, CompletionHandler<V, Object> handler, Object attachment) {

    @SuppressWarnings("unchecked") // the handler of the caller's attachment
    static <V, A> WaitingOperation<V> of(
            PendingFuture<V> future, CompletionHandler<V, ? super A> handler, A attachment) {
        return new WaitingOperation<>(future, (CompletionHandler<V, Object>) handler, attachment);
    }

    /** Reports the outcome; see {@link Handlers#tell}. */
    boolean tell(Handlers.Group group, V value, Throwable failure, boolean direct) {
        return Handlers.tell(group, future, handler, attachment, value, failure, direct);
    }
}
