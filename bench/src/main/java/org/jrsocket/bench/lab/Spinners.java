/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

/** Threads that always want to run: what a wait that polls costs where somebody else needs the CPU. */
final class Spinners implements AutoCloseable {

    static final Spinners NONE = new Spinners(0);

    private volatile boolean over;

    private Spinners(int count) {
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(this::spin, "spinner-" + i);
            thread.setDaemon(true);
            thread.start();
        }
    }

    /** One for each CPU. */
    static Spinners onAllCpus() {
        return new Spinners(Runtime.getRuntime().availableProcessors());
    }

    private void spin() {
        while (!over) {
            Thread.onSpinWait();
        }
    }

    @Override
    public void close() {
        over = true;
    }
}
