/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.verbs.Pd;

final class LoopbackPd extends Pd {

    private final LoopbackDevice device;
    final List<LoopbackQp> qps = new CopyOnWriteArrayList<>();
    final AtomicInteger mrs = new AtomicInteger();

    LoopbackPd(LoopbackDevice device) throws IOException {
        super(device);
        this.device = device;
        device.admit("ibv_alloc_pd", Registry.Kind.PD);
        device.provider().registry().add(Registry.Kind.PD, this);
    }

    LoopbackDevice device() {
        return device;
    }

    @Override
    public synchronized void dealloc() throws IOException {
        if (!isOpen) {
            return;
        }
        if (!qps.isEmpty() || mrs.get() > 0) {
            throw new ErrnoException("ibv_dealloc_pd", qps.size() + " queue pairs, " + mrs + " regions", Errno.EBUSY);
        }
        isOpen = false;
        device.provider().registry().remove(Registry.Kind.PD, this);
    }

    @Override
    public int deallocPd() throws IOException {
        dealloc();
        return 0;
    }
}
