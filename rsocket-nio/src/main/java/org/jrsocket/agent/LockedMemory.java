/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import org.jrsocket.os.MemlockLimit;
import org.jrsocket.stream.StreamConfig;

/** The memory that this process may pin. */
final class LockedMemory {

    private LockedMemory() {}

    /** Describes for people the limit, and how many connections it suffices for. */
    static String describe(MemlockLimit limit, StreamConfig config) {
        if (!limit.isNumber()) {
            return limit.toString();
        }
        if (limit.isPrivileged()) {
            return limit + ", which does not limit this process (CAP_IPC_LOCK)";
        }
        int idle = config.leastBytes();
        int busy = idle + config.sendBuffer() + config.receiveBuffer();
        return limit + ", for " + limit.bytes() / idle + " idle connections of " + idle / 1024 + " KiB, or "
                + limit.bytes() / busy + " that carry as much as they can (" + busy / 1024
                + " KiB); more: ulimit -l, LimitMEMLOCK= (systemd)," + " --ulimit memlock= (containers)";
    }
}
