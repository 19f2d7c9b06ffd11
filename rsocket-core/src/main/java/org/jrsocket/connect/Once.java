/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.util.concurrent.atomic.AtomicReference;

/** An action that runs once, even if two have to make sure that it does. Thread-safe. */
final class Once implements Runnable {

    private final AtomicReference<Runnable> action;

    Once(Runnable action) {
        this.action = new AtomicReference<>(action);
    }

    @Override
    public void run() {
        Runnable mine = action.getAndSet(null);
        if (mine != null) {
            mine.run();
        }
    }

    boolean hasRun() {
        return action.get() == null;
    }
}
