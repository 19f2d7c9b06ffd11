/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.faults;

import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The descriptors and the resident memory of one process, which may not grow once it is warm. What is resident goes up
 * and down by a quarter, as the host takes pages back and the heap is used; so the most while it warms up is what
 * counts.
 */
final class Flat {

    private static final int MOST_DESCRIPTORS = 20;
    private static final double MOST_GROWTH = 1.25;

    private final String name;
    private int descriptors;
    private int resident;

    Flat(String name) {
        this.name = name;
    }

    /**
     * @param held what lab-held says of the process
     * @param warm whether it is to be flat from now on
     */
    void look(String held, boolean warm) {
        int fds = TwoHosts.count(held, "fd");
        int rss = TwoHosts.count(held, "rss");
        assertTrue(fds > 0 && rss > 0, () -> name + ": nothing told in: " + held);
        if (!warm) {
            descriptors = Math.max(descriptors, fds);
            resident = Math.max(resident, rss);
        } else {
            assertTrue(
                    fds <= descriptors + MOST_DESCRIPTORS,
                    () -> name + ": descriptors: at most " + descriptors + " when it was new, now " + held);
            assertTrue(
                    rss <= resident * MOST_GROWTH,
                    () -> name + ": KiB resident: at most " + resident + " when it was new, now " + held);
        }
    }
}
