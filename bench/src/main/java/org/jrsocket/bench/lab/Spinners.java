/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

/**
 * Threads of the driver that always want to run: what a wait that polls costs where somebody else needs the CPU. They
 * look at a variable again and again. They do not say that they spin, which an emulator or a hypervisor may take for a
 * reason to let another one run.
 */
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
            // nothing but this look: no hint, no call
        }
    }

    @Override
    public void close() {
        over = true;
    }
}
