/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import java.io.IOException;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The devices by {@code ibv_context}: librdmacm has one for each device. Safe for use by many threads. */
final class RdmaCoreDevices {

    private static final Logger LOG = LoggerFactory.getLogger("org.jrsocket.verbs.rdmacore.RdmaCoreProvider");

    private final ConcurrentHashMap<Long, RdmaCoreDevice> devices = new ConcurrentHashMap<>();

    /** Returns the one object for a context of librdmacm's. */
    RdmaCoreDevice device(long context) throws IOException {
        RdmaCoreDevice known = devices.get(context);
        if (known != null && known.isOpen()) {
            return known;
        }
        RdmaCoreDevice device = RdmaCoreDevice.of(context);
        RdmaCoreDevice now = devices.compute(context, (key, old) -> old != null && old.isOpen() ? old : device);
        if (now == device) {
            LOG.debug("RDMA device {}", device);
        }
        return now;
    }
}
