/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.io.IOException;
import java.util.Map;

/** One way of moving bytes, measured beside the others. */
interface Column extends AutoCloseable {

    /** Short, for options and files. */
    String id();

    /** For the table. */
    String title();

    /** Whether the RDMA device must have carried it; else TCP must have. */
    boolean isRdma();

    boolean has(Row row);

    /** Makes it ready, warm-up included; what was done about the latter. */
    String prepare(boolean quick) throws IOException;

    Sample measure(Row row, boolean quick, Watch watch) throws IOException;

    @Override
    void close();

    /** Is told when what is measured begins and ends. Neither the start of processes nor a warm-up is part of it. */
    interface Watch {

        /** For what is nobody's sample. */
        Watch NONE = new Watch() {
            @Override
            public void begin() {
                // nobody looks
            }

            @Override
            public void end() {
                // nobody looks
            }
        };

        /** Once more, if it begins again. */
        void begin();

        /** Nothing, if it has not begun. */
        void end();
    }

    /**
     * One measurement: the row's values, and the operations it did, which the device's counter must confirm.
     *
     * @param stalled whether it took so much longer than it was to that something must have stood still
     */
    record Sample(Map<String, Double> values, long operations, boolean stalled) {
        Sample(Map<String, Double> values, long operations) {
            this(values, operations, false);
        }
    }
}
