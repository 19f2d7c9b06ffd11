/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

import java.io.IOException;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.Device;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Frees native objects one by one. Whatever freeing one of them throws, lack of memory included, the next is still
 * freed. Thread-safe.
 */
public final class Freeing {

    private static final Logger LOG = LoggerFactory.getLogger(Freeing.class);

    /** A call that is passed its arguments, so that it captures nothing: there may be no memory left for an object. */
    public interface Step<A, B> {
        void run(A first, B second) throws IOException;
    }

    private Freeing() {}

    /**
     * Makes one call. What it could not free is logged and lost, rather than freed twice.
     *
     * @param device null if unknown
     * @return whether the call succeeded
     */
    public static <A, B> boolean attempt(String call, Device device, Step<A, B> step, A first, B second) {
        try {
            step.run(first, second);
            return true;
        } catch (IOException | RuntimeException | Error e) {
            log(call, device, e);
            return false;
        }
    }

    private static void log(String call, Device device, Throwable why) {
        try {
            LOG.warn(
                    "{} on {} failed while closing a connection; the resource stays allocated until this process ends",
                    call,
                    device == null ? "an unknown device" : device.name(),
                    why);
        } catch (RuntimeException | Error e) {
            // a logger that fails or lacks memory is no reason to leave the rest unfreed
        }
    }

    /** Destroys an id. Repeated calls have no effect. */
    public static void destroy(CmId id) {
        attempt("rdma_destroy_id", id.getVerbs(), (one, none) -> one.destroyId(), id, null);
    }
}
