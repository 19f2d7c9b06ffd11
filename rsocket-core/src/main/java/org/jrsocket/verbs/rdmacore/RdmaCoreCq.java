/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import static org.jrsocket.verbs.rdmacore.RdmaCoreErrors.check;

import java.io.IOException;
import org.jrsocket.os.Errno;
import org.jrsocket.verbs.Cq;
import org.jrsocket.verbs.WcBatch;

/** An {@code ibv_cq}. */
final class RdmaCoreCq extends Cq {

    private final RdmaCoreDevice device;
    private long cq; // written under this; 0 once freed

    RdmaCoreCq(RdmaCoreDevice device, RdmaCoreCompChannel channel, int entries, int vector, int cookie)
            throws IOException {
        super(device, channel, 0);
        this.device = device;
        int[] out = new int[2];
        this.cq =
                Native.createCq(device.handle(), channel == null ? 0 : channel.handle(), entries, vector, cookie, out);
        if (cq <= 0) { // the text is built only on failure: lack of memory for it would lose the queue
            check(cq, "ibv_create_cq", entries + " entries on " + device);
        }
        this.cqe = out[0];
        this.handle = out[1];
    }

    synchronized long handle() {
        if (cq == 0) {
            throw new IllegalStateException("completion queue was destroyed");
        }
        return cq;
    }

    @Override
    public int poll(WcBatch batch) {
        long queue = cq;
        return queue == 0 ? -Errno.EINVAL : Native.pollCq(queue, batch.address(), batch.capacity());
    }

    @Override
    public boolean spin(long nanos) {
        long queue = cq;
        return queue == 0 || Native.spinCq(queue, nanos);
    }

    @Override
    public int arm() {
        long queue = cq;
        return queue == 0 ? -Errno.EINVAL : Native.armCq(queue);
    }

    @Override
    public synchronized int destroyCQ() throws IOException {
        if (cq != 0) {
            check(Native.destroyCq(cq), "ibv_destroy_cq", device);
            cq = 0;
            isOpen = false;
        }
        return 0;
    }
}
