/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

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
 * How many bytes of payload each device takes inside a work request. No attribute of a device tells, and one that takes
 * less refuses the queue pair instead of granting what it has (bnxt_re above 96, irdma above 101). So less is asked for
 * until the device agrees, and the next connection begins with that. Any thread.
 */
final class InlineLimits {

    private static final Logger LOG = LoggerFactory.getLogger(InlineLimits.class);
    private static final int[] STEPS = {1024, 512, 256, 128, 96, 64, 0};

    /** Makes a queue pair of that much inline data. */
    interface Attempt {
        Qp make(int inline) throws IOException;
    }

    private final Map<Device, Integer> refusedAbove = new ConcurrentHashMap<>();

    /**
     * The queue pair with as much inline data as the device takes.
     *
     * @param floor bytes without which a queue pair is of no use
     * @throws IOException of the first refusal, if the device refuses whatever is asked
     */
    Qp make(Device device, int wanted, int floor, Attempt attempt) throws IOException {
        int inline = Math.max(floor, Math.min(wanted, refusedAbove.getOrDefault(device, wanted)));
        ErrnoException first = null;
        boolean outOfMemory = false;
        for (; ; ) {
            try {
                Qp qp = attempt.make(inline);
                // A smaller queue pair may fit where memory is short: says nothing of the device, and the next
                // connection asks again.
                if (first != null && !outOfMemory) {
                    refusedAbove.put(device, inline);
                    if (device.isLost()) { // since it was asked
                        deviceRemoved(device);
                    }
                    LOG.debug("{} takes {} bytes inline, {} were asked for", device.name(), inline, wanted);
                }
                return qp;
            } catch (ErrnoException e) {
                if (e.errno() != Errno.EINVAL && e.errno() != Errno.ENOMEM) {
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

    /** Nothing of this device, which is lost, is kept any more. */
    void deviceRemoved(Device device) {
        refusedAbove.remove(device);
    }

    /** Of how many devices this keeps something. */
    int count() {
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
