/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.Qp;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds how many bytes of payload each device takes inside a work request. No attribute of a device says so, and one
 * that takes less refuses the queue pair instead of granting what it has (bnxt_re above 96, irdma above 101). So we ask
 * for less until the device agrees, and begin with that value for the next connection. Thread-safe.
 *
 * <p>The error differs: mostly EINVAL, ENOMEM with librdmacm before v33, whatever the reason, and EIO, which stands for
 * none, because bnxt_re says nothing.
 */
public final class InlineLimits {

    private static final Logger LOG = LoggerFactory.getLogger(InlineLimits.class);
    private static final int[] STEPS = {1024, 512, 256, 128, 96, 64, 0};

    /** Makes a queue pair with the given amount of inline data. */
    interface Attempt {
        Qp make(int inline) throws IOException;
    }

    private final Map<Device, Integer> refusedAbove = new ConcurrentHashMap<>();

    /**
     * Makes the queue pair with as much inline data as the device takes.
     *
     * @param floor bytes without which a queue pair is of no use
     * @throws IOException the first refusal, if the device refuses everything
     */
    Qp make(Device device, int wanted, int floor, Attempt attempt) throws IOException {
        int inline = Math.max(floor, Math.min(wanted, refusedAbove.getOrDefault(device, wanted)));
        ErrnoException first = null;
        boolean outOfMemory = false;
        for (; ; ) {
            try {
                Qp qp = attempt.make(inline);
                // A smaller queue pair may fit where memory is short. That says nothing about the device, so the next
                // connection asks again.
                if (first != null && !outOfMemory) {
                    refusedAbove.put(device, inline);
                    if (device.isLost()) { // in the meantime
                        deviceRemoved(device);
                    }
                    LOG.debug("{} allows {} bytes inline; {} were requested", device.name(), inline, wanted);
                }
                return qp;
            } catch (ErrnoException e) {
                if (!isRefusal(e) && e.errno() != Errno.ENOMEM) {
                    throw e;
                }
                outOfMemory |= e.errno() == Errno.ENOMEM;
                first = first == null ? e : first;
                int less = below(inline, floor);
                if (less == inline) {
                    throw first;
                }
                inline = less;
            }
        }
    }

    /** Returns whether the device may have refused the sizes, for which it perhaps gave no reason. */
    static boolean isRefusal(ErrnoException e) {
        return e.errno() == Errno.EINVAL || e.errno() == Errno.EIO;
    }

    /** Forgets what is known of a lost device. */
    void deviceRemoved(Device device) {
        refusedAbove.remove(device);
    }

    /** Returns the number of devices of which a limit is kept. */
    public int count() {
        return refusedAbove.size();
    }

    private static int below(int inline, int floor) {
        for (int step : STEPS) {
            if (step < inline) {
                return Math.max(floor, step);
            }
        }
        return inline;
    }
}
