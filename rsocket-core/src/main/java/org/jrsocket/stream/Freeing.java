/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.Device;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Frees native objects one by one. Whatever one of them throws, lack of memory included, the next is freed all the
 * same. Any thread.
 */
final class Freeing {

    private static final Logger LOG = LoggerFactory.getLogger(Freeing.class);

    interface Step {
        void run() throws IOException;
    }

    private Freeing() {}

    /**
     * Makes one call. What it could not free is logged and lost, rather than freed twice.
     *
     * @param device null if it is not known
     * @return whether it succeeded
     */
    static boolean attempt(String call, Device device, Step step) {
        try {
            step.run();
            return true;
        } catch (IOException | RuntimeException | Error e) {
            LOG.warn(
                    "{} on {} failed while closing a connection; its resource is lost to this process",
                    call,
                    device == null ? "no device" : device.name(),
                    e);
            return false;
        }
    }

    /** Destroys an id; harmless when repeated. */
    static void destroy(CmId id) {
        attempt("rdma_destroy_id", id.getVerbs(), id::destroyId);
    }
}
